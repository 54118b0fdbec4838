import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type BitPlane, createBitPlane, emptySample, hasBit, type Rect, type Size, setBit } from '@halogrid/geometry';
import { runs } from '@halogrid/testing';
import fc from 'fast-check';
import { runCpu } from '../cpu.ts';
import { type BorderMode, borderIndex, borderModes } from '../kernel/border.ts';
import type { AskedOperation } from '../kernel/operation.ts';
import { runReference } from '../reference.ts';
import { noiseImage, samplesOf, staged, tileArbitrary } from '../testing/index.ts';
import { excludedPixels } from './excluded-pixels.ts';
import { cellsOf } from './grid.ts';
import { createPipeline, type Pipeline } from './pipeline.ts';
import { planPipeline } from './pipeline-item.ts';

// NoData and masks change what is counted, for every kernel: here by the definition, pixel by pixel of whole images.

const chains: ((border: BorderMode) => AskedOperation[])[] = [
  (border) => [{ kernel: 'lbp', parameters: {}, border }],
  (border) => [{ kernel: 'lbp', parameters: { labels: 'var' }, border }],
  (border) => [{ kernel: 'ldp', parameters: {}, border }],
  (border) => [{ kernel: 'conv', parameters: { kernel: 'box-5', as: 'f32' }, border }],
  (border) => [{ kernel: 'conv', parameters: { kernel: 'sobel-x', as: 'i16' }, border }],
  (border) => [{ kernel: 'glcm', parameters: { levels: '4', offsets: '1@0+2@225', symmetric: 'true' }, border }],
  (border) => [
    { kernel: 'conv', parameters: { kernel: 'box-3', as: 'u8' }, border },
    { kernel: 'glcm', parameters: { levels: '32', offsets: '3@90' }, border },
  ],
  (border) => [
    { kernel: 'lbp', parameters: {}, border },
    { kernel: 'ldp', parameters: { order: '2' }, border },
  ],
];

/** Whether each pixel of an image has a value, and whether it is masked. */
interface Scene {
  size: Size;
  lacks: (x: number, y: number) => boolean;
  masks: (x: number, y: number) => boolean;
}

/** A pixel that the border rule puts at (x, y), and what is true of it. */
function at(has: Scene['lacks'], { width, height }: Size, border: BorderMode, x: number, y: number): boolean {
  const [column, row] = [borderIndex(x, width, border), borderIndex(y, height, border)];
  return column >= 0 && row >= 0 && has(column, row);
}

/** The definition: whether the result of a channel at (x, y) is excluded. */
function isExcluded({ operations }: Pipeline, { size, lacks, masks }: Scene, channel: number, x: number, y: number) {
  let reach = operations.reduce((sum, { halo }) => sum + halo, 0);
  const { border, pairs, halo } = operations.at(-1)!;
  const points = [{ x, y }];
  if (pairs) {
    const step = pairs.steps[channel]!;
    points.push({ x: x + step.x, y: y + step.y });
    reach -= halo;
  }
  return points.some((point) => {
    if (at(masks, size, border, point.x, point.y)) return true;
    const [column, row] = [borderIndex(point.x, size.width, border), borderIndex(point.y, size.height, border)];
    if (column < 0 || row < 0) return false;
    for (let dy = -reach; dy <= reach; dy++) {
      for (let dx = -reach; dx <= reach; dx++) {
        if (at(lacks, size, border, column + dx, row + dy)) return true;
      }
    }
    return false;
  });
}

/** The bits of a tile's stored plane, filled as its pixels are. */
function bitsOf(pipeline: Pipeline, { size }: Scene, has: Scene['lacks'], tile: Rect): BitPlane {
  const { stages, copies } = planPipeline(pipeline, tile, size);
  const plane = createBitPlane(stages[0]!.stored);
  for (const { from, to } of copies) {
    for (let y = 0; y < from.height; y++) {
      for (let x = 0; x < from.width; x++) if (has(from.x + x, from.y + y)) setBit(plane, to.x + x, to.y + y);
    }
  }
  return plane;
}

const scattered = (seed: number, one: number): Scene['lacks'] => {
  return (x, y) => one > 0 && Math.imul(x * 7919 + y * 104729 + seed, 2654435761) >>> 8 < 2 ** 24 / one;
};

/** Whether a channel has a result at (x, y): with `interior`, if all that it reads is in the image. */
function hasResult({ operations }: Pipeline, size: Size, channel: number, x: number, y: number): boolean {
  const { border, halo, pairs } = operations.at(-1)!;
  if (border !== 'interior') return true;
  const { x: right, y: down } = pairs ? pairs.steps[channel]! : { x: 0, y: 0 };
  const reach = pairs ? 0 : halo;
  const isIn = (i: number, n: number) => i - reach >= 0 && i + reach < n;
  return isIn(x, size.width) && isIn(y, size.height) && isIn(x + right, size.width) && isIn(y + down, size.height);
}

/** Counts a result of the dense result. */
function countOne({ bins, binning, pairs }: Pipeline, counts: Uint32Array, value: number): void {
  const { first, width } = binning ?? { first: 0, width: 1 };
  counts[Math.min(Math.max(Math.floor(value / width) - first, 0), bins - 1)]!++;
  if (pairs?.isSymmetric) counts[(value % pairs.levels) * pairs.levels + Math.floor(value / pairs.levels)]!++;
}

test('for any image, pixels without a value, mask and tile, exactly the pixels of the definition are excluded', () => {
  fc.assert(
    fc.property(
      tileArbitrary(70, 14),
      fc.constantFrom(...chains),
      fc.constantFrom(...borderModes),
      fc.constantFrom(0, 2, 60, 400),
      fc.constantFrom(0, 2, 60),
      ({ size, tile, seed }, chain, border, lacking, masked) => {
        const pipeline = createPipeline(chain(border));
        const scene: Scene = { size, lacks: scattered(seed, lacking), masks: scattered(~seed, masked) };
        const { stages } = planPipeline(pipeline, tile, size);
        const [noData, mask] = [scene.lacks, scene.masks].map((has) => bitsOf(pipeline, scene, has, tile));
        const planes = excludedPixels(pipeline, stages, { noData, masked: mask });
        let count = 0;
        for (let channel = 0; channel < (pipeline.pairs?.steps.length ?? 1); channel++) {
          for (let y = 0; y < tile.height; y++) {
            for (let x = 0; x < tile.width; x++) {
              const wanted = isExcluded(pipeline, scene, channel, tile.x + x, tile.y + y);
              count += Number(wanted);
              assert.equal(planes ? hasBit(planes[channel]!, x, y) : false, wanted, `${channel} ${x} ${y}`);
            }
          }
        }
        // Without any, nothing travels and today's programs run.
        assert.equal(planes === undefined, count === 0);
      },
    ),
    { numRuns: runs(2000) },
  );
});

for (const [name, run] of [
  ['the reference', runReference],
  ['the cpu device', runCpu],
] as const) {
  test(`${name} counts what is left of the results, in each cell, and marks excluded pixels in the map`, () => {
    fc.assert(
      fc.property(
        tileArbitrary(40, 12),
        fc.constantFrom(...chains),
        fc.constantFrom(...borderModes),
        fc.constantFrom({ rows: 1, columns: 1 }, { rows: 2, columns: 3 }),
        fc.boolean(),
        ({ size, tile, seed, levels }, chain, border, asked, withMap) => {
          const pipeline = createPipeline(chain(border));
          const grid = pipeline.bins > 0 ? asked : { rows: 1, columns: 1 };
          const { item, bytes } = staged(pipeline, noiseImage(size, seed, levels), tile, grid);
          const noData = bitsOf(pipeline, { size, lacks: () => false, masks: () => false }, scattered(seed, 30), tile);
          const excluded = excludedPixels(pipeline, item.stages, { noData });
          fc.pre(excluded !== undefined);
          const result = run(pipeline, bytes, { ...item, excluded: excluded! }, withMap);
          assert.equal(result.map !== undefined, withMap);

          // Every cell by itself, pixel by pixel of the map without exclusions.
          const { bins, output, pairs } = pipeline;
          const channels = output.channels.length;
          const whole = run(pipeline, bytes, item, true);
          const samples = samplesOf(pipeline, whole, tile);
          const isOut = (channel: number, x: number, y: number) =>
            hasBit(excluded!.length > 1 ? excluded![channel]! : excluded![0]!, x, y);
          const cells = cellsOf(grid, size, tile);
          const expected: number[] = [];
          let counted = 0;
          for (const { rect } of cells) {
            for (let channel = 0; channel < channels; channel++) {
              const own = new Uint32Array(bins);
              for (let y = rect.y - tile.y; y < rect.y - tile.y + rect.height; y++) {
                for (let x = rect.x - tile.x; x < rect.x - tile.x + rect.width; x++) {
                  if (isOut(channel, x, y) || !hasResult(pipeline, size, channel, tile.x + x, tile.y + y)) continue;
                  if (channel === 0) counted += pairs?.isSymmetric ? 2 : 1;
                  if (bins > 0) countOne(pipeline, own, samples[(channel * tile.height + y) * tile.width + x]!);
                }
              }
              expected.push(...own);
            }
          }
          assert.deepEqual([...result.bins], expected);
          assert.equal(result.counted, counted);
          if (!withMap) return;
          const found = samplesOf(pipeline, result, tile);
          for (const [i, sample] of samples.entries()) {
            const [channel, place] = [Math.floor(i / (tile.width * tile.height)), i % (tile.width * tile.height)];
            const isGone = isOut(channel, place % tile.width, Math.floor(place / tile.width));
            assert.equal(found[i], isGone ? emptySample[output.sample] : sample);
          }
        },
      ),
      { numRuns: runs(300) },
    );
  });
}
