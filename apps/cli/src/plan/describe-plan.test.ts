import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeBytes, describePlan, describePlanShortly } from './describe-plan.ts';
import type { JobPlan } from './job-plan.ts';

const plan: JobPlan = {
  ...{
    kept: 0,
    sources: 12_345,
    quarantined: 2,
    unknown: 1,
    pixels: 25_600_000_000,
    shards: 110,
    segments: 0,
    videoFrames: 0,
    tiles: 10,
  },
  ...{ haloPercent: 0.0977, nodeMemoryBytes: 268_435_456, scratchBytes: 25_600_000_000, estimatedSeconds: 125 },
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
      'time                about 2 min 05 s',
      '',
    ].join('\n'),
  );
});

test('a plan without results or measurements says so', () => {
  const output = { mapsBytes: 0, featuresBytes: 0, histogramBytes: 0 };
  const text = describePlan({
    ...plan,
    shards: 0,
    tiles: 0,
    segments: 0,
    videoFrames: 0,
    output,
    estimatedSeconds: null,
  });
  assert.match(text, /^shards {14}0 \(nothing to compute\)$/m);
  assert.match(text, /^output {14}previews alone$/m);
  assert.match(text, /^time {16}not measured yet$/m);
});

test('a plan is one line at the head of a run', () => {
  assert.equal(
    describePlanShortly(plan),
    'Plan: 12345 sources, 25.6 Gpx, 110 shards, at most 34.0 GB of results, about 2 min 05 s.',
  );
});

test('bytes have three digits', () => {
  assert.deepEqual([0, 999, 1e3, 2 ** 31].map(describeBytes), ['0 B', '999 B', '1.00 kB', '2.15 GB']);
});
