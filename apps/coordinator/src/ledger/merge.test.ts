import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Rect, Size } from '@halogrid/geometry';
import { cellsOf, cutTiles, type Grid } from '@halogrid/kernels';
import { quarantinedDigest, sourceDigest } from '@halogrid/results/source-digest';
import fc from 'fast-check';
import type { SourceResult } from '../job/shard.ts';
import { Merge } from './merge.ts';
import { storedSources } from './testing/stored-sources.ts';

const shape = { grid: { rows: 1, columns: 1 }, channels: 1, bins: 2 };

test('sums beyond 2^53 are exact', () => {
  const merge = new Merge(shape);
  const huge = { width: 2 ** 31, height: 2 ** 22 };
  const odd = 2 ** 53 - 1;
  for (let source = 0; source < 5; source++) {
    merge.plan(storedSources([{ index: source, uri: `file:///${source}` }]));
    merge.add([{ source, size: huge, rect: { x: 0, y: 0, ...huge }, counted: odd, bins: [odd, 0] }]);
  }
  assert.equal(merge.counted, 5n * BigInt(odd));
  assert.deepEqual(merge.bins, BigUint64Array.of(5n * BigInt(odd), 0n));
});

test('a cut source counts nothing until its last tile is in', () => {
  const merge = new Merge(shape);
  merge.plan(storedSources([{ index: 0, uri: 'file:///a', tiles: 2 }]));
  merge.add([tileOf(0, 0, [1, 0])]);
  assert.deepEqual([merge.counted, merge.pixels, merge.done], [0n, 1, 0]);
  merge.add([tileOf(0, 1, [0, 1])]);
  assert.deepEqual([merge.counted, merge.pixels, merge.done], [2n, 2, 1]);
  assert.deepEqual(merge.bins, BigUint64Array.of(1n, 1n));
});

test('a source that fails counts nothing, whatever came before or comes later', () => {
  const merge = new Merge(shape);
  merge.plan(storedSources([{ index: 0, uri: 'file:///a', tiles: 3 }]));
  merge.add([tileOf(0, 0, [1, 0])]);
  merge.quarantine(0, { stage: 'decode', error: 'broken at 1', attempts: 1, shard: 1 });
  merge.add([tileOf(0, 2, [1, 0])]);
  assert.deepEqual([merge.counted, merge.pixels, merge.done, merge.quarantined], [0n, 0, 0, 1]);
  assert.deepEqual(merge.bins, BigUint64Array.of(0n, 0n));
});

test('of several failures of a source that of the lowest shard is told, in whatever order they came', () => {
  const reasons = [2, 1, 3].map((shard) => ({ stage: 'read', error: `at ${shard}`, attempts: 1, shard }));
  const merge = new Merge(shape);
  merge.plan(storedSources([{ index: 0, uri: 'file:///a', tiles: 3 }]));
  for (const reason of reasons) merge.quarantine(0, reason);
  const [outcome] = merge.outcomes();
  assert.deepEqual([outcome?.state === 'quarantined' && outcome.error, merge.quarantined], ['at 1', 1]);
});

test('a source is counted once for the reason that is told of it, however many of its tiles fail', () => {
  const merge = new Merge(shape);
  merge.plan(storedSources(['a', 'b'].map((name, index) => ({ index, uri: `file:///${name}`, tiles: 3 }))));
  const fail = (source: number, shard: number, error: string) =>
    merge.quarantine(source, { stage: 'decode', error, attempts: 1, shard });
  const told = () => merge.reasons().map(({ error, inputs, example }) => [error, inputs, example]);
  fail(0, 3, 'cut off at 3');
  fail(1, 5, 'cut off at 5');
  assert.deepEqual(told(), [['cut off at 3', 2, 'file:///a']]);
  fail(0, 2, 'damaged');
  fail(0, 4, 'too late');
  fail(1, 4, 'cut off at 4');
  assert.deepEqual(told(), [
    ['damaged', 1, 'file:///a'],
    ['cut off at 4', 1, 'file:///b'],
  ]);
});

test('outcomes are asked for too early while a source is open', () => {
  const merge = new Merge(shape);
  merge.plan(storedSources([{ index: 0, uri: 'file:///a', tiles: 2 }]));
  merge.add([tileOf(0, 0, [1, 0])]);
  assert.throws(() => merge.outcomes(), /Source 0 still waits for 1 results/);
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
      const done: number[][] = [];
      const merge = new Merge(wide, (source, bins) => void done.splice(source, 0, Array.from(bins)));
      const tiles = [...cutTiles(size, tilePx)];
      merge.plan(
        storedSources([
          { index: 0, uri: 'file:///cut', tiles: tiles.length },
          { index: 1, uri: 'file:///whole' },
        ]),
      );
      while (tiles.length) {
        assert.equal(done.length, 0, 'a source is done when its last tile is in');
        const [rect] = tiles.splice(order.next().value! % tiles.length, 1);
        merge.add([resultOf(0, size, rect!, grid, channels)]);
      }
      merge.add([resultOf(1, size, { x: 0, y: 0, ...size }, grid, channels)]);

      const expected = everyCell(size, grid, channels);
      assert.deepEqual(done, [expected, expected]);
      const totals = new Array<number>(3 * channels).fill(0);
      for (const [i, count] of expected.entries()) totals[i % totals.length]! += 2 * count;
      assert.deepEqual([...merge.bins].map(Number), totals);
      assert.deepEqual(merge.counted, BigInt(2 * size.width * size.height));
      const digest = sourceDigest(size, size.width * size.height, expected);
      assert.deepEqual(Buffer.concat([...merge.digests()]), Buffer.concat([digest, digest]));
    }),
  );
});

test('without a histogram a source is known by its size and its count, and its grid has no cells to keep', () => {
  const done: number[] = [];
  const merge = new Merge({ grid: { rows: 2, columns: 2 }, channels: 3, bins: 0 }, (source, bins) =>
    done.push(source, bins.length),
  );
  merge.plan(
    storedSources([
      { index: 0, uri: 'file:///a', tiles: 2 },
      { index: 1, uri: 'file:///b' },
    ]),
  );
  for (const x of [1, 0]) merge.add([{ ...tileOf(0, x, []), size: { width: 2, height: 1 } }]);
  merge.quarantine(1, { stage: 'read', error: 'gone', attempts: 1, shard: 1 });
  assert.deepEqual([merge.counted, merge.bins.length, done], [2n, 0, [0, 0]]);
  const digests = Buffer.concat([sourceDigest({ width: 2, height: 1 }, 2, []), quarantinedDigest]);
  assert.deepEqual(Buffer.concat([...merge.digests()]), digests);
});

test('counts that differ by device are added up, and the digest leaves them out', () => {
  const merge = new Merge({ ...shape, isNear: true });
  merge.plan(storedSources([{ index: 0, uri: 'file:///a', tiles: 2 }]));
  merge.add([tileOf(0, 0, [1, 0])]);
  merge.add([tileOf(0, 1, [0, 1])]);
  assert.deepEqual([...merge.bins], [1n, 1n]);
  const { size } = tileOf(0, 0, []);
  assert.deepEqual(Buffer.concat([...merge.digests()]), sourceDigest(size, 2, []));
});

/** The code of a pixel, by its place. */
const codeOf = (x: number, y: number, channel: number): number => (5 * x + 3 * y + channel) % 3;

/** What a node says of a part: the cells that it touches, with three bins a channel. */
function resultOf(source: number, size: Size, rect: Rect, grid: Grid, channels: number): SourceResult {
  const bins = cellsOf(grid, size, rect).flatMap(({ rect: part }) => {
    const counts = new Array<number>(3 * channels).fill(0);
    for (let y = part.y; y < part.y + part.height; y++) {
      for (let x = part.x; x < part.x + part.width; x++) {
        for (let channel = 0; channel < channels; channel++) counts[3 * channel + codeOf(x, y, channel)]!++;
      }
    }
    return counts;
  });
  return { source, size, rect, counted: rect.width * rect.height, bins };
}

/** The bins of every cell, from its definition: cell r of R holds rows floor(r H / R) up to floor((r + 1) H / R). */
function everyCell({ width, height }: Size, { rows, columns }: Grid, channels: number): number[] {
  const bins: number[] = [];
  for (let r = 0; r < rows; r++) {
    for (let c = 0; c < columns; c++) {
      for (let channel = 0; channel < channels; channel++) {
        const counts = [0, 0, 0];
        for (let y = Math.floor((r * height) / rows); y < Math.floor(((r + 1) * height) / rows); y++) {
          for (let x = Math.floor((c * width) / columns); x < Math.floor(((c + 1) * width) / columns); x++) {
            counts[codeOf(x, y, channel)]!++;
          }
        }
        bins.push(...counts);
      }
    }
  }
  return bins;
}

/** The result of one pixel of a row. */
function tileOf(source: number, x: number, bins: number[]): SourceResult {
  return { source, size: { width: 3, height: 1 }, rect: { x, y: 0, width: 1, height: 1 }, counted: 1, bins };
}
