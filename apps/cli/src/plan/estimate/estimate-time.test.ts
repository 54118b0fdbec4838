import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { basisOf, estimateTime, isLike, likeness } from './estimate-time.ts';
import type { KeptRun } from './run-records.ts';
import type { Parts } from './work-parts.ts';

const video = { job: 0.3, 'decode video': 30, 'cpu lbp': 3 };
const archive = { job: 0.3, 'open jpeg': 20, 'decode jpeg': 200, 'cpu lbp': 40 };
const usual = (parts: Parts, device: KeptRun['device'] = 'cpu') => ({ parts, device, startSeconds: 2 });
const run = (parts: Parts, seconds: number, more: Partial<KeptRun> = {}): KeptRun => ({
  machine: 'm',
  device: 'cpu',
  isChosen: true,
  parts,
  seconds,
  slowdown: 1,
  startFactor: 1,
  ...more,
});
const sumOf = (values: Parts): number => Object.values(values).reduce((sum, value) => sum + value, 0);
const times = (parts: Parts, by: number): Parts =>
  Object.fromEntries(Object.entries(parts).map(([name, seconds]) => [name, seconds * by]));
const isNear = (actual: number, expected: number): void =>
  assert.ok(Math.abs(actual - expected) <= 1e-9 * expected, `${actual} is not ${expected}`);

const seconds = fc.double({ min: 0.01, max: 1e4, noNaN: true });
const slowdown = fc.double({ min: 1, max: 20, noNaN: true });
const drawnParts = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd', 'e'), seconds, { minKeys: 1 });
const drawnRuns = fc.array(
  fc
    .record({ parts: drawnParts, seconds, slowdown, device: fc.constantFrom<KeptRun['device']>('cpu', 'gpu') })
    .map(({ parts, seconds, ...more }) => run(parts, seconds, more)),
  { maxLength: 12 },
);

describe('the time of a job', () => {
  const onGpu = { device: 'gpu' } as const;
  const short = { ...times(archive, 1e-3), job: 0.3 };
  const cases: [name: string, runs: KeptRun[], seconds: number, likeRuns: number][] = [
    ['without runs, is the sum of its parts', [], 260.3, 0],
    ['after a like run, grows with what that took', [run(archive, 2 * 260.3)], 520.6, 1],
    ['after a like run of half the size, is twice what that took', [run(times(archive, 0.5), 300)], 600, 1],
    ['follows the last like run', [run(archive, 300), run(archive, 200), run(video, 3)], 200, 2],
    ['leaves out how busy the machine was in the run', [run(archive, 800, { slowdown: 4 })], 200, 1],
    // A ratio of 4 counts as much as the ratio 1 of the constants, so the mean is 2.
    ['after a run on other sources, follows it by half', [run(video, 4 * 33.3)], 520.6, 0],
    ['after a run on another device, follows it by half', [run(archive, 4 * 260.3, onGpu)], 520.6, 0],
    ['after a run that hardly did more than start, follows it by half', [run(short, 4 * sumOf(short))], 520.6, 0],
  ];
  for (const [name, runs, expected, likeRuns] of cases) {
    test(name, () => {
      const estimate = estimateTime(usual(archive), runs, 1);
      isNear(estimate.seconds, expected);
      assert.deepEqual([estimate.likeRuns, estimate.otherRuns], [likeRuns, runs.length - likeRuns]);
    });
  }

  test('is what the last run of the same job took, whatever was run before', () => {
    fc.assert(
      fc.property(drawnRuns, drawnParts, seconds, slowdown, (before, parts, took, busy) => {
        const runs = [...before, run(parts, took, { slowdown: busy })];
        isNear(estimateTime(usual(parts), runs, busy).seconds, took);
      }),
    );
  });

  test('depends on the last like run alone, and without one is as much off as other runs were, or less', () => {
    fc.assert(
      fc.property(drawnRuns, drawnParts, slowdown, (runs, parts, busy) => {
        const job = usual(parts);
        const { seconds, likeRuns } = estimateTime(job, runs, busy);
        if (likeRuns > 0) {
          const last = runs.findLast((one) => isLike(one, job))!;
          return assert.equal(seconds, estimateTime(job, [last], busy).seconds);
        }
        const ratios = [1, ...runs.map((one) => one.seconds / (sumOf(one.parts) * one.slowdown))];
        const ratio = seconds / (sumOf(parts) * busy);
        assert.ok(ratio >= Math.min(...ratios) * (1 - 1e-9) && ratio <= Math.max(...ratios) * (1 + 1e-9));
      }),
    );
  });

  test('on a machine of half the speed, is nearly twice the sum after ten runs of other jobs', () => {
    const runs = Array.from({ length: 10 }, () => run(video, 2 * 33.3));
    const { seconds } = estimateTime(usual(archive), runs, 1);
    assert.ok(seconds > 1.8 * 260.3 && seconds < 2 * 260.3, `${seconds}`);
  });

  test('grows with the job and with the slowdown, and lies within its range', () => {
    fc.assert(
      fc.property(
        drawnRuns,
        drawnParts,
        slowdown,
        fc.double({ min: 1.01, max: 9, noNaN: true }),
        (runs, parts, busy, by) => {
          const { seconds, lowSeconds, highSeconds } = estimateTime(usual(parts), runs, busy);
          isNear(estimateTime(usual(times(parts, by)), runs, busy).seconds, by * seconds);
          const busier = estimateTime(usual(parts), runs, by * busy);
          isNear(busier.seconds, by * seconds);
          assert.ok(lowSeconds < seconds && seconds < highSeconds);
          assert.ok(busier.highSeconds / busier.lowSeconds > highSeconds / lowSeconds);
        },
      ),
    );
  });
});

test('a like run makes the range narrower, less so if the machine was busy in it, and other runs do not', () => {
  const width = (...runs: KeptRun[]): number => {
    const { lowSeconds, highSeconds } = estimateTime(usual(archive), runs, 1);
    return highSeconds / lowSeconds;
  };
  // A factor of three and more each way without runs: see lab/notes/estimates.md.
  assert.ok(width() > 9);
  assert.equal(width(run(video, 3)), width());
  assert.ok(width(run(archive, 300)) < width(run(archive, 300, { slowdown: 2 })));
  assert.ok(width(run(archive, 300)) < width() / 2);
});

test('a start takes what the last start took here', () => {
  const start = (runs: KeptRun[], busy = 1): number => estimateTime(usual(video), runs, busy).startSeconds;
  assert.equal(start([]), 2);
  assert.equal(start([], 3), 6);
  assert.equal(start([run(video, 30, { startFactor: 90 }), run(archive, 30, { startFactor: 3 })]), 6);
});

describe('likeness', () => {
  test('is 1 for jobs that differ in size alone, 0 for those that share nothing', () => {
    assert.equal(likeness({ a: 1, b: 3 }, { a: 2, b: 6 }), 1);
    assert.equal(likeness({ a: 1 }, { b: 1 }), 0);
    assert.equal(likeness({ a: 1, b: 1 }, { a: 1 }), 0.5);
    assert.equal(likeness({}, { a: 1 }), 0);
  });

  test('is the same from both sides, and whatever the size of the jobs', () => {
    fc.assert(
      fc.property(drawnParts, drawnParts, seconds, (a, b, by) => {
        const known = likeness(a, b);
        assert.ok(known >= 0 && known <= 1 + 1e-9);
        for (const same of [likeness(b, a), likeness(times(a, by), b)]) assert.ok(Math.abs(same - known) < 1e-9);
      }),
    );
  });
});

test('an estimate says what it is based on', () => {
  const cases: [likeRuns: number, otherRuns: number, basis: string][] = [
    [0, 0, 'a guess: nothing was run on this machine yet'],
    [0, 1, 'a guess: from 1 run on this machine, none of them similar'],
    [0, 1200, 'a guess: from 1,200 runs on this machine, none of them similar'],
    [1, 0, 'from 1 similar run on this machine'],
    [3, 9, 'from the last of 3 similar runs on this machine'],
  ];
  for (const [likeRuns, otherRuns, basis] of cases) assert.equal(basisOf({ likeRuns, otherRuns }), basis);
});
