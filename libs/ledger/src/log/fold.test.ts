import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Rect, Size } from '@halogrid/geometry';
import type { SourceResult } from '@halogrid/jobs/shard';
import type { ToldSource } from '@halogrid/jobs/testing-planned';
import { cellsOf, cutTiles, type Grid } from '@halogrid/kernels';
import { digestedBins, type HistogramShape } from '@halogrid/results/histogram-shape';
import { packCounts } from '@halogrid/results/part-sums';
import { sourceDigest } from '@halogrid/results/source-digest';
import fc from 'fast-check';
import { restoreState, storeState } from './checkpoint.ts';
import type { Fact, TileFact } from './fact.ts';
import { fold } from './fold.ts';
import { isOpen, type JobState, newState, reasonsOf } from './job-state.ts';
import { foundImages } from './testing/found-images.ts';
import { plannedFact } from './testing/planned-fact.ts';

const shape: HistogramShape = { grid: { rows: 1, columns: 1 }, channels: 1, bins: 2 };
const row = { width: 3, height: 1 };

/** The state of a job with images that are cut into these tiles, and one node. */
function begin(of: HistogramShape, size: Size, tiles: readonly Rect[], images = 1): JobState {
  const works = tiles.map((rect) => ({ kind: 'tile' as const, size, rect }));
  const state = newState([of], 0);
  for (let index = 0; index < images; index++) {
    const source = { index, uri: `file:///${'ab'[index]}`, tiles: tiles.length };
    fold(state, plannedFact([source], works, index * tiles.length));
  }
  return fold(state, { kind: 'node', name: 'node', device: 'cpu' });
}

const said = (shard: number) => ({
  shard,
  attempt: 1,
  node: 1,
  errors: [],
  mended: [],
  stageSeconds: {},
  busySeconds: {},
});

/** Folds in a tile, and after the last tile the whole image; returns the digest of the whole image. */
function take(state: JobState, shard: number, { source, size, rect, counted, bins }: SourceResult) {
  const parts = [{ counted, binCount: bins.length, bins: packCounts(bins) }];
  fold(state, { kind: 'tile', ...said(shard), source, size, rect, parts });
  const image = state.open.get(source);
  if (!image || image.tilesLeft > 0) return undefined;
  const [part] = image.parts;
  const [{ shape: of }] = state.parts as [JobState['parts'][number]];
  const whole = { counted: part!.counted, bins: part!.bins.sums };
  fold(state, { kind: 'whole', source, ...foundImages([of], [[whole]], image.pixels) });
  return sourceDigest(image.size!, whole.counted, digestedBins(of, whole.bins));
}

const fails = (shard: number, error: string, source = 0): TileFact => ({
  kind: 'tile',
  ...said(shard),
  source,
  size: row,
  rect: { x: 0, y: 0, width: 1, height: 1 },
  errors: [{ source, uri: `file:///${'ab'[source]}`, stage: 'decode', error }],
});

const tilesOfRow = [0, 1, 2].map((x) => ({ x, y: 0, width: 1, height: 1 }));
const tileOf = (x: number, bins: number[]): SourceResult => {
  return { source: 0, size: row, rect: { x, y: 0, width: 1, height: 1 }, counted: 1, bins };
};
const counts = ({ counts: { pixels, frames }, parts: [part] }: JobState) => [part!.counted, pixels, frames];

test('sums beyond 2^53 are exact', () => {
  const odd = 2 ** 53 - 1;
  const state = newState([shape], 0);
  fold(state, { kind: 'node', name: 'node', device: 'cpu' });
  for (let index = 0; index < 5; index++) {
    fold(state, plannedFact([{ index, uri: 'file:///a' }], [{ kind: 'frames' }], index));
    fold(state, { kind: 'answer', ...said(index), ...foundImages([shape], [[{ counted: odd, bins: [odd, 0] }]], 0) });
  }
  assert.equal(state.parts[0]!.counted, 5n * BigInt(odd));
  assert.deepEqual([...state.parts[0]!.totals.sums], [5n * BigInt(odd), 0n]);
});

test('a cut source counts nothing until its last tile is in', () => {
  const state = begin(shape, row, tilesOfRow);
  take(state, 0, tileOf(0, [1, 0]));
  take(state, 1, tileOf(1, [1, 0]));
  assert.deepEqual(counts(state), [0n, 2, 0]);
  take(state, 2, tileOf(2, [0, 1]));
  assert.deepEqual(counts(state), [3n, 3, 1]);
  assert.deepEqual([...state.parts[0]!.totals.sums], [2n, 1n]);
});

test('a source that fails counts nothing, before or after its other tiles', () => {
  const state = begin(shape, row, tilesOfRow);
  take(state, 0, tileOf(0, [1, 0]));
  fold(state, fails(1, 'broken at 1'));
  take(state, 2, tileOf(2, [1, 0]));
  assert.deepEqual([...counts(state), state.quarantined.size], [0n, 0, 0, 1]);
  assert.deepEqual([...state.parts[0]!.totals.sums], [0n, 0n]);
});

test('a source counts once, for the reason of its lowest failed shard, in any order', () => {
  const state = begin(shape, row, tilesOfRow, 2);
  const told = () => {
    const uriOf = (source: number) => state.quarantined.get(source)!.uri;
    const list = reasonsOf(state).list(uriOf);
    return list.map(({ error, inputs, example }) => [error, inputs, example]);
  };
  fold(state, fails(2, 'cut off at 3'));
  fold(state, fails(5, 'cut off at 5', 1));
  assert.deepEqual(told(), [['cut off at 3', 2, 'file:///a']]);
  fold(state, fails(0, 'damaged'));
  fold(state, fails(1, 'too late'));
  fold(state, fails(4, 'cut off at 4', 1));
  assert.deepEqual(told(), [
    ['damaged', 1, 'file:///a'],
    ['cut off at 4', 1, 'file:///b'],
  ]);
});

test('tiles of any cut in any order add up to the cells of the whole, for any grid', () => {
  const side = fc.integer({ min: 1, max: 12 });
  const scene = fc.record({
    size: fc.record({ width: side, height: side }),
    grid: fc.record({ rows: side, columns: side }),
    channels: fc.constantFrom(1, 4),
    tilePx: side,
    order: fc.infiniteStream(fc.nat()),
  });
  fc.assert(
    fc.property(scene, ({ size, grid, channels, tilePx, order }) => {
      const wide = { grid, channels, bins: 3 };
      const tiles = [...cutTiles(size, tilePx)];
      fc.pre(tiles.length > 1);
      const state = begin(wide, size, tiles);
      const left = [...tiles.keys()];
      let digest: Uint8Array | undefined;
      while (left.length) {
        assert.equal(digest, undefined, 'a source is done when its last tile is in');
        const [shard] = left.splice(order.next().value! % left.length, 1);
        digest = take(state, shard!, resultOf(size, tiles[shard!]!, grid, channels));
      }
      const expected = everyCell(size, grid, channels);
      assert.deepEqual(Buffer.from(digest!), Buffer.from(sourceDigest(size, size.width * size.height, expected)));
      const totals = new Array<number>(3 * channels).fill(0);
      for (const [i, count] of expected.entries()) totals[i % totals.length]! += count;
      assert.deepEqual([...state.parts[0]!.totals.sums].map(Number), totals);
      assert.equal(state.parts[0]!.counted, BigInt(size.width * size.height));
    }),
  );
});

test('without a histogram, the digest of a source is over its size and count, and its grid has no cells to store', () => {
  const state = begin({ grid: { rows: 2, columns: 2 }, channels: 3, bins: 0 }, row, tilesOfRow);
  const digests = [2, 0, 1].map((x) => take(state, x, tileOf(x, [])));
  assert.deepEqual([state.parts[0]!.counted, state.parts[0]!.totals.sums.length], [3n, 0]);
  assert.deepEqual(Buffer.from(digests[2]!), Buffer.from(sourceDigest(row, 3, [])));
});

test('counts that may differ between devices are added up, and the digest leaves them out', () => {
  const state = begin({ ...shape, isNear: true }, row, tilesOfRow);
  const digests = [0, 1, 2].map((x) => take(state, x, tileOf(x, x === 1 ? [0, 1] : [1, 0])));
  assert.deepEqual([...state.parts[0]!.totals.sums], [2n, 1n]);
  assert.deepEqual(Buffer.from(digests[2]!), Buffer.from(sourceDigest(row, 3, [])));
});

test('kept sources are done by the coordinator: they count for no node and no shard of nodes', () => {
  const told: ToldSource[] = ['a', 'b'].map((name, index) => ({ index, uri: `file:///${name}`, name, kept: name }));
  const images = [
    { counted: 3, bins: [3, 0] },
    { counted: 2, bins: [0, 2] },
  ];
  const found = foundImages([shape], [images], 6);
  const state = fold(newState([shape], 0), plannedFact(told, [{ kind: 'kept', earlier: [4, 3, 2] }]));
  assert.deepEqual([isOpen(state, 0), isOpen(state, 1), state.counts.kept], [true, true, 0]);
  const said = { shard: 0, attempt: 0, node: 0, errors: [], mended: [] };
  fold(state, { kind: 'answer', ...said, stageSeconds: {}, busySeconds: {}, ...found });
  assert.deepEqual(counts(state), [5n, 6, 2]);
  assert.deepEqual([...state.parts[0]!.totals.sums], [3n, 2n]);
  assert.deepEqual([isOpen(state, 0), isOpen(state, 1)], [false, false]);
  const { kept, shards, shardsDone } = state.counts;
  assert.deepEqual([kept, shards, shardsDone, state.index.areAllDone], [2, 0, 0, true]);
  fold(state, { kind: 'withdrawn', ...said, ...found });
  assert.deepEqual([counts(state), state.counts.kept, state.index.areAllDone], [[0n, 0, 0], 0, false]);
});

test('a shard that is done twice, or is not planned, is refused', () => {
  const state = begin(shape, row, tilesOfRow);
  const skipped = (shard: number): Fact => ({ kind: 'skipped', shard });
  fold(state, skipped(1));
  assert.throws(() => fold(state, skipped(1)), { name: 'RangeError', message: 'Shard 1 is done twice' });
  assert.throws(() => fold(state, skipped(3)), { name: 'RangeError', message: 'There is no shard 3' });
});

/** The code of a pixel, by its place. */
const codeOf = (x: number, y: number, channel: number): number => (5 * x + 3 * y + channel) % 3;

/** A node's result of a tile: the cells that it touches, with three bins per channel. */
function resultOf(size: Size, rect: Rect, grid: Grid, channels: number): SourceResult {
  const bins = cellsOf(grid, size, rect).flatMap(({ rect: part }) => countsIn(part, channels));
  return { source: 0, size, rect, counted: rect.width * rect.height, bins };
}

function countsIn({ x: left, y: top, width, height }: Rect, channels: number): number[] {
  const counts = new Array<number>(3 * channels).fill(0);
  for (let y = top; y < top + height; y++) {
    for (let x = left; x < left + width; x++) {
      for (let channel = 0; channel < channels; channel++) counts[3 * channel + codeOf(x, y, channel)]!++;
    }
  }
  return counts;
}

/** The bins of every cell, from its definition: cell r of R holds rows floor(r H / R) up to floor((r + 1) H / R). */
function everyCell({ width, height }: Size, { rows, columns }: Grid, channels: number): number[] {
  return Array.from({ length: rows * columns }, (_, cell) => {
    const [r, c] = [Math.floor(cell / columns), cell % columns];
    const [x, y] = [Math.floor((c * width) / columns), Math.floor((r * height) / rows)];
    const [right, bottom] = [Math.floor(((c + 1) * width) / columns), Math.floor(((r + 1) * height) / rows)];
    return countsIn({ x, y, width: right - x, height: bottom - y }, channels);
  }).flat();
}

test('a checkpoint of an older version has no owner and no pause', () => {
  const { owner: _, paused: __, ...older } = storeState(newState([shape], 5, 'ann')) as Record<string, unknown>;
  const { owner, paused, submittedMs } = restoreState([shape], older);
  assert.deepEqual({ owner, paused, submittedMs }, { owner: '', paused: undefined, submittedMs: 5 });
});
