import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describePlan, describePlanShortly, describeRoughly } from './describe-plan.ts';
import type { JobPlan } from './job-plan.ts';

const plan: JobPlan = {
  kept: 0,
  sources: 12_345,
  quarantined: 2,
  unknown: 1,
  pixels: 25_600_000_000,
  shards: 110,
  segments: 0,
  videoFrames: 0,
  tiles: 10,
  haloPercent: 0.0977,
  nodeMemoryBytes: 268_435_456,
  scratchBytes: 25_600_000_000,
  estimatedSeconds: 125,
  estimate: {
    seconds: 125,
    lowSeconds: 61,
    highSeconds: 250,
    slowdown: 1,
    startSeconds: 1.23,
    likeRuns: 3,
    otherRuns: 2,
    basis: 'from the last of 3 similar runs on this machine',
  },
  advice: null,
  output: { mapsBytes: 34_000_000_000, featuresBytes: 13_900_000, histogramBytes: 68_608 },
};

test('a plan is a table for people', () => {
  assert.equal(
    describePlan(plan),
    [
      'sources             12,345, 2 cannot be read, 1 of unknown size',
      'pixels              25.6 Gpx',
      'shards              110 (10 of tiles, 100 of frames)',
      'read around tiles   0.10 % more pixels',
      'memory of a node    268 MB for planes and results',
      'output              maps 34.0 GB, features 13.9 MB, histogram 68.6 kB, at most',
      'disk while it runs  25.6 GB more',
      'time                about 2.1 min (1.0 min to 4.2 min), after 1.2 s to start',
      '                    from the last of 3 similar runs on this machine',
      '',
    ].join('\n'),
  );
});

test('a plan without results says so', () => {
  const output = { mapsBytes: 0, featuresBytes: 0, histogramBytes: 0 };
  const text = describePlan({
    ...plan,
    shards: 0,
    tiles: 0,
    segments: 0,
    videoFrames: 0,
    output,
  });
  assert.match(text, /^shards {14}0 \(nothing to compute\)$/m);
  assert.match(text, /^output {14}previews only$/m);
});

test('the table says that the machine is busy', () => {
  const text = describePlan({ ...plan, estimate: { ...plan.estimate, slowdown: 2.04 } });
  assert.match(
    text,
    /\n {20}this machine is busy: other programs make the job take 2\.0 times as long \(included\)\n$/,
  );
});

test('a plan is one line at the head of a run', () => {
  const rest = '25.6 Gpx, 110 shards, at most 34.0 GB of results, about 2.1 min (1.0 min to 4.2 min).';
  const reasons = [{ stage: 'open', error: 'it is empty', inputs: 2, example: 'a.png' }];
  assert.equal(describePlanShortly({ ...plan, quarantined: 0 }), `Plan: 12345 sources, ${rest}`);
  assert.equal(describePlanShortly(plan, reasons), `Plan: 12345 sources, 2 cannot be read, ${rest}`);
  assert.equal(
    describePlanShortly({ ...plan, sources: 2 }, reasons),
    `Plan: 2 sources, 2 cannot be read, ${rest}\n  2 × open: it is empty, e.g. a.png`,
  );
});

test('an estimate has two digits', () => {
  const seconds = [0.0123, 0.349, 9.96, 59.4, 59.8, 150, 3590, 11_000, 90_000, 86_400 * 365];
  assert.deepEqual(seconds.map(describeRoughly), [
    ...['0.012 s', '0.35 s', '10 s', '59 s', '1.0 min', '2.5 min', '1.0 h', '3.1 h', '1.0 days', '365 days'],
  ]);
});
