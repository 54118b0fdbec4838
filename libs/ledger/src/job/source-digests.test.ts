import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Rect, Size } from '@halogrid/geometry';
import type { SourceResult } from '@halogrid/jobs/shard';
import { plannedSources } from '@halogrid/jobs/testing-planned';
import { cellsOf } from '@halogrid/kernels/grid';
import { type FoundShard, shardRows } from '@halogrid/results/found-shard';
import { allCells, binsOfSource, digestedBins, type HistogramShape } from '@halogrid/results/histogram-shape';
import { packCounts } from '@halogrid/results/part-sums';
import { sourceDigest } from '@halogrid/results/source-digest';
import { documentedDigest } from '@halogrid/results/testing-digest';
import { SourceBlock } from '@halogrid/sources/source-block';
import fc from 'fast-check';
import { fold } from '../log/fold.ts';
import { newState } from '../log/job-state.ts';
import { plannedFact } from '../log/testing/planned-fact.ts';
import { foundShard } from '../testing/memory-parts.ts';
import { wholeShard } from './whole-shard.ts';

// Compares the digest of a source from one node's array of counts with its digest for every way in which counts reach a
// coordinator.

/** An image with the bin of each pixel. The channels differ only in an offset of the bins. */
interface Scene {
  shape: HistogramShape;
  size: Size;
  codes: readonly number[];
  /** The column and the row of pixels at which the image is cut into tiles; at an edge: not cut. */
  cut: { x: number; y: number };
}

const scenes = fc
  .record({
    rows: fc.integer({ min: 1, max: 5 }),
    columns: fc.integer({ min: 1, max: 5 }),
    channels: fc.integer({ min: 1, max: 3 }),
    bins: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 20 })),
    isNear: fc.boolean(),
    width: fc.integer({ min: 1, max: 7 }),
    height: fc.integer({ min: 1, max: 7 }),
  })
  .chain(({ rows, columns, channels, bins, isNear, width, height }) => {
    // Without a histogram, cells have nothing to count.
    const grid = bins === 0 ? { rows: 1, columns: 1 } : { rows, columns };
    const pixels = width * height;
    return fc.record<Scene>({
      shape: fc.constant({ grid, channels, bins, ...(isNear && { isNear }) }),
      size: fc.constant({ width, height }),
      codes: fc.array(fc.nat(Math.max(0, bins - 1)), { minLength: pixels, maxLength: pixels }),
      cut: fc.record({ x: fc.nat(width), y: fc.nat(height) }),
    });
  });

/** The counts of one cell, a channel after another. */
function countsIn({ shape: { channels, bins }, size, codes }: Scene, { x, y, width, height }: Rect): number[] {
  const counts = new Array<number>(channels * bins).fill(0);
  for (let row = y; row < y + height; row++) {
    for (let column = x; column < x + width; column++) {
      const code = codes[row * size.width + column]!;
      for (let channel = 0; channel < channels && bins > 0; channel++)
        counts[channel * bins + ((code + channel) % bins)]!++;
    }
  }
  return counts;
}

/** As nodes answer: the cells that have pixels. */
function resultOf(scene: Scene, rect: Rect): SourceResult {
  const { shape, size } = scene;
  const bins = cellsOf(shape.grid, size, rect).flatMap((cell) => countsIn(scene, cell.rect));
  return { source: 0, size, rect, counted: rect.width * rect.height, bins };
}

const wholeOf = (size: Size): Rect => ({ x: 0, y: 0, ...size });

/** The digest as the documentation defines it, over the counts of every cell. */
function documented(scene: Scene): Buffer {
  const { shape, size } = scene;
  const { rows, columns } = shape.grid;
  const edge = (index: number, count: number, length: number): number => Math.floor((index * length) / count);
  const counts = Array.from({ length: rows * columns }, (_, cell) => {
    const [row, column] = [Math.floor(cell / columns), cell % columns];
    const [x, y] = [edge(column, columns, size.width), edge(row, rows, size.height)];
    const [right, bottom] = [edge(column + 1, columns, size.width), edge(row + 1, rows, size.height)];
    return countsIn(scene, { x, y, width: right - x, height: bottom - y });
  });
  return documentedDigest(size.width, size.height, size.width * size.height, shape.isNear ? [] : counts.flat());
}

function ofOneArray({ shape, size, ...scene }: Scene): Uint8Array {
  const { counted, bins } = resultOf({ shape, size, ...scene }, wholeOf(size));
  const all = allCells(shape, size, Uint32Array.from(bins));
  assert.equal(all.length, binsOfSource(shape));
  return sourceDigest(size, counted, digestedBins(shape, all));
}

/** The digest in the only row of a part. */
function ofShard(shard: FoundShard, shape: HistogramShape): Uint8Array {
  const [row] = shardRows(shard, new SourceBlock(shard.block), [shape]);
  return row!.found!.digest;
}

function ofFrame(scene: Scene): Uint8Array {
  const { block } = plannedSources([{ index: 0, uri: 'file:///0' }]);
  return ofShard(foundShard(block, [resultOf(scene, wholeOf(scene.size))], [scene.shape]), scene.shape);
}

function ofTiles(scene: Scene): Uint8Array {
  const { shape, size, cut } = scene;
  const columns = [
    [0, cut.x],
    [cut.x, size.width],
  ] as const;
  const rows = [
    [0, cut.y],
    [cut.y, size.height],
  ] as const;
  const rects = rows.flatMap(([y, bottom]) =>
    columns.map(([x, right]) => ({ x, y, width: right - x, height: bottom - y })),
  );
  const tiles = rects.filter(({ width, height }) => width > 0 && height > 0);
  if (tiles.length === 1) return ofFrame(scene);
  const state = newState([shape], 0);
  const works = tiles.map((rect) => ({ kind: 'tile' as const, size, rect }));
  const planned = plannedFact([{ index: 0, uri: 'file:///0', tiles: tiles.length }], works);
  fold(state, planned);
  fold(state, { kind: 'node', name: 'node', device: 'cpu' });
  for (const [shard, tile] of tiles.entries()) {
    const { counted, bins } = resultOf(scene, tile);
    fold(state, {
      kind: 'tile',
      shard,
      attempt: 1,
      node: 1,
      errors: [],
      mended: [],
      stageSeconds: {},
      busySeconds: {},
      source: 0,
      size,
      rect: tile,
      parts: [{ counted, binCount: bins.length, bins: packCounts(bins) }],
    });
  }
  return ofShard(wholeShard(planned.sources!.block, state.open.get(0)!), shape);
}

test('property: for any shape, one array of counts has the same digest as the frame or the tiles at a coordinator', () => {
  fc.assert(
    fc.property(scenes, (scene) => {
      const expected = documented(scene);
      for (const way of [ofOneArray, ofFrame, ofTiles]) assert.deepEqual(Buffer.from(way(scene)), expected, way.name);
    }),
  );
});
