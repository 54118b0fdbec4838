import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PlanTotals } from '@halogrid/coordinator/plan';
import { scaleTotals } from './scale-totals.ts';

const nothing = { stagingBytes: 0, resultsBytes: 0 };
/** A quarter of an archive of 8,000 frames; a batch of 500 is being filled. */
const part: PlanTotals = {
  sources: 2000,
  kept: 0,
  quarantined: 0,
  unknown: 0,
  pixels: 200_000,
  shards: 3,
  tiles: 0,
  segments: 0,
  videoFrames: 0,
  haloPixels: 0,
  largest: { width: 10, height: 10, ...nothing },
  batch: nothing,
  all: nothing,
  scratchBytes: 0,
  output: { mapsBytes: 400_000, featuresBytes: 0, histogramBytes: 0 },
  work: {
    inputs: 1500,
    kinds: { jpeg: { units: 1500, opens: 1500, pixels: 150_000, bytes: 3000 } },
    bins: 1500,
    kernelPixels: { u8: 150_000, u16: 0 },
    knownPixels: [{ u8: 75_000, u16: 0 }],
    previews: 20,
    previewPixels: 2000,
    remoteFiles: 150,
    remoteBytes: 300,
  },
};

test('a part of a plan stands for all of it', () => {
  const whole = scaleTotals(part, { sources: 8000, shards: 12, pixels: 800_000 })!;
  const near = (value: number | undefined, expected: number) =>
    assert.ok(Math.abs(value! - expected) < 1e-6 * expected, `${value} is not ${expected}`);
  assert.deepEqual([whole.sources, whole.shards, whole.work.previews], [8000, 12, 20]);
  near(whole.work.inputs, 8000);
  near(whole.work.kinds.jpeg?.opens, 8000);
  near(whole.work.kernelPixels.u8, 800_000);
  near(whole.work.knownPixels[0]!.u8, 400_000);
  near(whole.work.remoteBytes, 1600);
  near(whole.output.mapsBytes, 1_600_000);
});

test('a whole plan stays as it is, and one that has not begun tells nothing', () => {
  const complete = { ...part, sources: 1500, pixels: 150_000 };
  assert.deepEqual(scaleTotals(complete, complete), complete);
  assert.equal(scaleTotals({ ...part, shards: 0 }, part), undefined);
});
