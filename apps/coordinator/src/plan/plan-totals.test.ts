import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Rect, Size } from '@halogrid/geometry';
import { plannedSources } from '@halogrid/jobs/testing-planned';
import { createPipeline, cutTiles } from '@halogrid/kernels';
import { repeated } from '@halogrid/testing';
import fc from 'fast-check';
import { itemBytes, mostOf, PlanCounter, type PlanTotals, type TotalsOptions } from './plan-totals.ts';

const lbp = createPipeline([{ kernel: 'lbp', parameters: {} }]);
const options: TotalsOptions = { grid: { rows: 1, columns: 1 }, mapFormat: 'none' };
const MiB = 2 ** 20;

function countTiles(counter: PlanCounter, size: Size, tilePx: number): void {
  counter.addSource(0, 'file:///a.jpg', size);
  for (const rect of cutTiles(size, tilePx)) {
    counter.addShard({ kind: 'tile', sources: plannedSources([{ index: 0, uri: '' }]), size, rect });
  }
}

function countFrames(counter: PlanCounter, sizes: readonly (Size | undefined)[]): void {
  for (const [index, size] of sizes.entries()) counter.addSource(index, 'file:///a.jpg', size);
  counter.addShard({ kind: 'frames', sources: plannedSources(sizes.map((_, index) => ({ index, uri: '' }))) });
}

test('the halo of an image in tiles is the area that its tiles read of each other', () => {
  const counter = new PlanCounter([lbp], options);
  countTiles(counter, { width: 200, height: 100 }, 100);
  const { pixels, shards, tiles, haloPixels } = counter.totals;
  // Either tile reads one column of the other.
  assert.deepEqual({ pixels, shards, tiles, haloPixels }, { pixels: 20_000, shards: 2, tiles: 2, haloPixels: 200 });
});

test('the halos of a pipeline add up, and an image that is not cut has none', () => {
  const side = fc.integer({ min: 1, max: 60 });
  fc.assert(
    fc.property(side, side, side, fc.integer({ min: 1, max: 3 }), (width, height, tilePx, kernels) => {
      const pipeline = createPipeline(Array.from({ length: kernels }, () => ({ kernel: 'lbp', parameters: {} })));
      const counter = new PlanCounter([pipeline], options);
      countTiles(counter, { width, height }, tilePx);
      // Every tile reads `kernels` pixels around itself, clipped to the image.
      const around = (at: number, length: number, image: number) =>
        Math.min(image, at + length + kernels) - Math.max(0, at - kernels);
      const read = [...cutTiles({ width, height }, tilePx)].reduce(
        (sum: number, { x, y, ...tile }: Rect) => sum + around(x, tile.width, width) * around(y, tile.height, height),
        0,
      );
      assert.equal(counter.totals.haloPixels, read - width * height);
      assert.equal(counter.totals.pixels, width * height);
      assert.equal(counter.totals.all.stagingBytes >= read, true);
    }),
    { numRuns: repeated(60, 200) },
  );
});

test('a device holds a full batch of frames, or one larger frame', () => {
  const many = new PlanCounter([lbp], options);
  countFrames(many, Array(100).fill({ width: 1920, height: 1080 }));
  const { batch, all, largest } = many.totals;
  assert.equal(batch.stagingBytes, 64 * MiB);
  assert.ok(all.stagingBytes >= 100 * 1920 * 1080 && all.stagingBytes < 101 * 1920 * 1088);
  assert.equal(all.resultsBytes, 100 * 256 * 4);
  assert.deepEqual([largest.width, largest.height], [1920, 1080]);

  const one = new PlanCounter([lbp], options);
  countFrames(one, [{ width: 10_000, height: 10_000 }, undefined]);
  assert.ok(one.totals.batch.stagingBytes >= 1e8);
  assert.equal(one.totals.unknown, 1);
});

test('dense results take memory if a map or a preview is made from them, and maps take disk space twice', () => {
  const size = { width: 1000, height: 700 };
  const bytesOf = (more: Partial<TotalsOptions>, preview: { preview?: true } = {}) => {
    const counter = new PlanCounter([lbp], { ...options, ...more });
    for (const index of [0, 1]) counter.addSource(index, `file:///${index}`, size);
    const sources = plannedSources([
      { index: 0, uri: 'file:///0', ...preview },
      { index: 1, uri: 'file:///1' },
    ]);
    counter.addShard({ kind: 'frames', sources });
    const { all, output, scratchBytes } = counter.totals;
    return { results: all.resultsBytes, maps: output.mapsBytes, scratch: scratchBytes };
  };
  const map = (1000 + 15 + 15) * 700;
  const histogram = 256 * 4;
  assert.deepEqual(bytesOf({}), { results: 2 * histogram, maps: 0, scratch: 0 });
  assert.deepEqual(bytesOf({}, { preview: true }), { results: 2 * histogram + map, maps: 0, scratch: 0 });
  // Parts of 512 x 512. The next level, 500 x 350, is one part with sides rounded up to multiples of 16: 512 x 352.
  assert.deepEqual(bytesOf({ mapFormat: 'tiff' }), {
    results: 2 * (histogram + map),
    maps: 2 * (1024 * 1024 + 512 * 352),
    scratch: 2 * 700_000,
  });
});

test('pieces of a Zarr that are shards become part of it, and a copy takes disk space of its own', () => {
  for (const [tilePx, scratch] of [
    [4096, 0],
    [3000, 5000 * 4100],
  ] as const) {
    const counter = new PlanCounter([lbp], { ...options, mapFormat: 'zarr' });
    const size = { width: 5000, height: 4100 };
    counter.addSource(0, 'file:///a.tif', size, { copyBytes: 77 });
    for (const rect of cutTiles(size, tilePx)) {
      counter.addShard({ kind: 'tile', sources: plannedSources([{ index: 0, uri: '' }]), size, rect });
    }
    assert.equal(counter.totals.scratchBytes, scratch + 77);
  }
  const small = new PlanCounter([lbp], { ...options, mapFormat: 'zarr' });
  countFrames(small, [{ width: 17, height: 9 }]);
  assert.deepEqual([small.totals.output.mapsBytes, small.totals.scratchBytes], [17 * 9, 0]);
});

test('several pipelines share the planes of the widest one, and each leaves results', () => {
  const ldp = createPipeline([{ kernel: 'ldp', parameters: { order: '3' } }]);
  const [codes, derivative, both] = [[lbp], [ldp], [lbp, ldp]].map((pipelines) => {
    const counter = new PlanCounter(pipelines, { ...options, mapFormat: 'tiff' });
    countTiles(counter, { width: 200, height: 100 }, 100);
    return counter.totals;
  }) as [PlanTotals, PlanTotals, PlanTotals];
  assert.deepEqual([both.pixels, both.haloPixels], [derivative.pixels, derivative.haloPixels]);
  assert.equal(both.all.stagingBytes, derivative.all.stagingBytes);
  assert.equal(both.all.resultsBytes, codes.all.resultsBytes + derivative.all.resultsBytes);
  assert.equal(both.scratchBytes, codes.scratchBytes + derivative.scratchBytes);
  for (const file of ['mapsBytes', 'featuresBytes', 'histogramBytes'] as const) {
    assert.equal(both.output[file], codes.output[file] + derivative.output[file]);
  }
});

test('each cell of a grid takes features and results', () => {
  const counter = new PlanCounter([lbp], { ...options, grid: { rows: 2, columns: 3 } });
  countFrames(counter, [{ width: 60, height: 60 }]);
  assert.equal(counter.totals.all.resultsBytes, 6 * 256 * 4);
  assert.equal(counter.totals.output.featuresBytes, 6 * (256 * 4 + 100));
  // Seven statistics of each of four matrices.
  const matrices = new PlanCounter([createPipeline([{ kernel: 'glcm', parameters: { levels: '8' } }])], options);
  countFrames(matrices, [{ width: 60, height: 60 }]);
  assert.equal(matrices.totals.output.featuresBytes, 4 * (64 * 4 + 7 * 8) + 100);
  const variances = createPipeline([{ kernel: 'lbp', parameters: { labels: 'var' } }]);
  const without = new PlanCounter([variances], options);
  countFrames(without, [{ width: 60, height: 60 }]);
  assert.deepEqual(without.totals.output, { mapsBytes: 0, featuresBytes: 0, histogramBytes: 0 });
});

test('a source that is set aside does not count as of unknown size', () => {
  const counter = new PlanCounter([lbp], options);
  counter.addSource(0, 'file:///a.jpg', undefined);
  counter.addQuarantine();
  const { sources, quarantined, unknown, pixels } = counter.totals;
  assert.deepEqual({ sources, quarantined, unknown, pixels }, { sources: 1, quarantined: 1, unknown: 0, pixels: 0 });
});

test('a tile needs the larger of its planes and its results at once', () => {
  const rgb = createPipeline([{ kernel: 'conv', parameters: { kernel: 'sobel', channels: 'rgb' } }]);
  const size = { width: 1000, height: 1000 };
  const { stagingBytes, resultsBytes, mapBytes } = itemBytes([rgb], { x: 0, y: 0, ...size }, size, options.grid);
  assert.ok(stagingBytes >= 3e6 && stagingBytes < 3.2e6);
  // Three histograms of 181 bins: see conv-binning.test.ts.
  assert.equal(resultsBytes, 3 * 181 * 4);
  assert.ok(mapBytes >= 12e6 && mapBytes < 12.4e6);
  assert.equal(mostOf({ stagingBytes, resultsBytes: mapBytes }), mapBytes);
});
