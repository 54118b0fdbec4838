import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PlanTotals } from '@halogrid/coordinator/plan';
import { createPipeline } from '@halogrid/kernels';
import { JobSpec } from '@halogrid/proto';
import { UsageError } from '@halogrid/service';
import { checkDisk, checkLargest } from './make-plan.ts';

const { operations } = createPipeline([{ kernel: 'conv', parameters: { kernel: 'sobel', channels: 'rgb' } }]);
const spec = JobSpec.fromPartial({ pipeline: { operations: operations as never[] }, mapFormat: 'tiff' });
const nothing = { stagingBytes: 0, resultsBytes: 0 };
const totals: PlanTotals = {
  sources: 1,
  kept: 0,
  quarantined: 0,
  unknown: 0,
  pixels: 1,
  shards: 1,
  tiles: 1,
  segments: 0,
  videoFrames: 0,
  haloPixels: 0,
  largest: { width: 20_000, height: 20_000, stagingBytes: 1.2e9, resultsBytes: 4.8e9 },
  batch: nothing,
  all: nothing,
  scratchBytes: 6e9,
  output: { mapsBytes: 8e9, featuresBytes: 1e6, histogramBytes: 1e6 },
  work: {
    inputs: 1,
    kinds: {},
    kernelPixels: { u8: 1, u16: 0 },
    knownPixels: [],
    bins: 0,
    previews: 1,
    previewPixels: 1,
    remoteFiles: 0,
    remoteBytes: 0,
  },
};

test('a tile that no device takes is refused with the largest side that fits', () => {
  assert.throws(
    () => checkLargest(totals, spec),
    new UsageError(
      'A tile of 20000 x 20000 pixels and its results take 4.80 GB at once, and no device takes more than 2.15 GB: ' +
        '--tile 8192 fits',
    ),
  );
  checkLargest({ ...totals, largest: { ...totals.largest, resultsBytes: 2 ** 31 - 256 } }, spec);
});

test('results that certainly do not fit on the disk are refused', () => {
  const path = '/data';
  assert.throws(
    () => checkDisk(totals, spec, path, 13e9),
    new UsageError(
      "The results take 14.0 GB until they are complete, and '/data' has 13.0 GB free: --map none takes 2.00 MB at most",
    ),
  );
  checkDisk(totals, spec, path, 14e9);
  assert.throws(
    () => checkDisk(totals, { ...spec, mapFormat: 'zarr' }, path, 13e9),
    /^UsageError: The results take 14/,
  );
  // With a compressed format, only the pieces are certain to need room.
  checkDisk(totals, { ...spec, mapFormat: 'png' }, path, 6e9);
  assert.throws(() => checkDisk(totals, { ...spec, mapFormat: 'png' }, path, 5e9), /^UsageError: The results take 6/);
});
