import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { fitCosts, likeness, type Parts, predict, type RunRecord } from './cost-model.ts';

const seconds = fc.double({ min: 0.01, max: 1e4, noNaN: true });
const parts = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd', 'e'), seconds, { minKeys: 1 });
const runs = fc.array(fc.record({ parts, seconds, slowdown: fc.double({ min: 1, max: 20, noNaN: true }) }), {
  maxLength: 12,
});
const sumOf = (values: Parts): number => Object.values(values).reduce((sum, value) => sum + value, 0);
const isNear = (actual: number, expected: number, factor: number) =>
  assert.ok(
    actual > expected / factor && actual < expected * factor,
    `${actual} is not within ${factor} of ${expected}`,
  );

test('without runs, a job takes the sum of its parts, give or take what machines differ by', () => {
  const { lowSeconds, highSeconds, ...rest } = predict({ a: 3, b: 1 }, fitCosts([]));
  assert.deepEqual(rest, { seconds: 4 });
  assert.ok(lowSeconds < 2 && highSeconds > 8 && lowSeconds > 0.4 && highSeconds < 40);
});

test('whatever the runs were, more of a part takes longer, and nothing less than any of its parts alone', () => {
  fc.assert(
    fc.property(runs, parts, fc.constantFrom('a', 'b', 'c', 'd', 'e'), seconds, (known, job, name, more) => {
      const costs = fitCosts(known);
      const before = predict(job, costs);
      const after = predict({ ...job, [name]: (job[name] ?? 0) + more }, costs);
      assert.ok(after.seconds > before.seconds);
      assert.ok(before.lowSeconds <= before.seconds && before.seconds <= before.highSeconds);
      for (const [only, value] of Object.entries(job)) {
        assert.ok(before.seconds >= predict({ [only]: value }, costs).seconds * (1 - 1e-9));
      }
    }),
  );
});

test('after one run, the same job is expected to take what it took, up to a hundred times off', () => {
  fc.assert(
    fc.property(parts, fc.double({ min: -2, max: 2, noNaN: true }), (job, off) => {
      const took = sumOf(job) * Math.exp(off);
      isNear(predict(job, fitCosts([{ parts: job, seconds: took, slowdown: 1 }])).seconds, took, 1.5);
    }),
  );
});

test('many runs of other jobs tell what a job of the same parts takes, where one of ten was disturbed', () => {
  const truth = { start: 0.4, decode: 3, compute: 0.3 };
  const known: RunRecord[] = Array.from({ length: 40 }, (_, i) => {
    const job = { start: 0.3, decode: (7 * i) % 11, compute: (5 * i) % 13 };
    const took = 0.3 * truth.start + job.decode * truth.decode + job.compute * truth.compute;
    return { parts: job, seconds: i % 10 === 3 ? 6 * took : took, slowdown: 1 };
  });
  const job = { start: 0.3, decode: 20, compute: 2 };
  const found = predict(job, fitCosts(known));
  isNear(found.seconds, 0.12 + 60 + 0.6, 1.3);
  assert.ok(found.highSeconds / found.lowSeconds < 4);
});

test('a short run says little of a long job', () => {
  // It took ten times as long in all, which is a hundred times its share of the work: the start was slow.
  const short = { parts: { start: 0.3, decode: 0.01 }, seconds: 3, slowdown: 1 };
  const { seconds: expected } = predict({ start: 0.3, decode: 100 }, fitCosts([short]));
  assert.ok(expected < 500, `${expected}`);
});

test('runs make an estimate surer', () => {
  const job = { a: 5, b: 1 };
  const range = (known: RunRecord[]): number => {
    const { lowSeconds, highSeconds } = predict(job, fitCosts(known));
    return highSeconds / lowSeconds;
  };
  const run = { parts: job, seconds: 7, slowdown: 1 };
  assert.ok(range([run]) < range([]));
  assert.ok(range([run, run, run]) < range([run]));
  assert.ok(range([{ parts: { c: 3 }, seconds: 3, slowdown: 1 }]) > range([run]));
});

test('what else the machine does slows a job down, then and now, and makes both less sure', () => {
  const job = { a: 5, b: 1 };
  const costs = fitCosts([{ parts: job, seconds: 48, slowdown: 4 }]);
  const alone = predict(job, costs);
  isNear(alone.seconds, 12, 1.5);
  const busy = predict(job, costs, 3);
  assert.ok(Math.abs(busy.seconds - 3 * alone.seconds) < 1e-9);
  assert.ok(busy.highSeconds / busy.lowSeconds > alone.highSeconds / alone.lowSeconds);
});

describe('likeness', () => {
  test('is 1 for jobs that differ in size alone, 0 for those that share nothing', () => {
    assert.equal(likeness({ a: 1, b: 3 }, { a: 2, b: 6 }), 1);
    assert.equal(likeness({ a: 1 }, { b: 1 }), 0);
    assert.equal(likeness({ a: 1, b: 1 }, { a: 1 }), 0.5);
    assert.equal(likeness({}, { a: 1 }), 0);
  });
});
