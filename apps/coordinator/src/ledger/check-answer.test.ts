import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Rect } from '@halogrid/geometry';
import { cellsOf } from '@halogrid/kernels';
import fc from 'fast-check';
import type { ShardWork, SourceResult } from '../job/shard.ts';
import { plannedSources } from '../testing/planned.ts';
import { checkAnswer, checkMended, InvalidResultError } from './check-answer.ts';

const shape = { grid: { rows: 1, columns: 1 }, channels: 2, bins: 2 };
const size = { width: 4, height: 2 };
const frames: ShardWork = {
  kind: 'frames',
  sources: plannedSources([
    { index: 5, uri: 'file:///5' },
    { index: 6, uri: 'file:///6' },
  ]),
};
const tile: ShardWork = {
  kind: 'tile',
  sources: plannedSources([{ index: 1, uri: 'file:///1' }]),
  size: { width: 9, height: 9 },
  rect: { x: 4, y: 4, width: 4, height: 2 },
};
const frame: SourceResult = { source: 5, size, rect: { x: 0, y: 0, ...size }, counted: 7, bins: [3, 4, 7, 0] };
const error = { source: 6, stage: 'decode', error: 'broken' };
const tileResult: SourceResult = { ...frame, source: 1, size: tile.size, rect: tile.rect };

test('an answer that covers the work and adds up is taken', () => {
  checkAnswer(frames, { results: [frame], errors: [error] }, shape);
  checkAnswer(tile, { results: [tileResult], errors: [] }, shape);
});

test('mended files are sources of the work without an error', () => {
  const mended = 'Bytes were left out';
  checkMended(frames, [{ mended, sources: 2, source: 5 }], []);
  checkMended(tile, [{ mended, sources: 1, source: 1 }], []);
  const refusals: [why: RegExp, kinds: Parameters<typeof checkMended>[1], errors: (typeof error)[]][] = [
    [/source 7 was not asked for/, [{ mended, sources: 1, source: 7 }], []],
    [/source 6 was not asked for, or has an error/, [{ mended, sources: 1, source: 6 }], [error]],
    [/source 5 was not asked for/, [{ mended, sources: 0, source: 5 }], []],
    [/There are 3 files with bytes left out of 2/, [{ mended, sources: 3, source: 5 }], []],
    [/There are 2 files with bytes left out of 1/, [{ mended, sources: 2, source: 5 }], [error]],
  ];
  for (const [why, kinds, errors] of refusals) {
    assert.throws(
      () => checkMended(frames, kinds, errors),
      (thrown) => thrown instanceof InvalidResultError && why.test(thrown.message),
    );
  }
});

test('an answer that cannot be right is refused with the source and the reason', () => {
  const refusals: [why: RegExp, work: ShardWork, results: SourceResult[]][] = [
    [/source 7 was not asked for/, frames, [frame, { ...frame, source: 7 }]],
    [/source 5 was not asked for, or is answered twice/, frames, [frame, frame]],
    [/source 6 was not asked for, or is answered twice/, frames, [frame, { ...frame, source: 6 }]],
    [/source 5 is not answered/, frames, []],
    [/source 5 has 3 bins instead of 4/, frames, [{ ...frame, bins: [3, 4, 7] }]],
    [/source 5 has 7 pixels in channel 0 .* but 6 in channel 1/, frames, [{ ...frame, bins: [3, 4, 6, 0] }]],
    [/source 5 counts 7 pixels but its bins hold 6/, frames, [{ ...frame, bins: [3, 3, 6, 0] }]],
    [/source 5 has -1 pixels in bin 0/, frames, [{ ...frame, bins: [-1, 8, 7, 0] }]],
    [/source 5 has 0.5 pixels in bin 0/, frames, [{ ...frame, bins: [0.5, 6.5, 7, 0] }]],
    [/source 5 counts 9 of 8 pixels/, frames, [{ ...frame, counted: 9, bins: [9, 0, 9, 0] }]],
    [/source 5 counts NaN of 8 pixels/, frames, [{ ...frame, counted: Number.NaN }]],
    [/source 5 has 0 x 2 pixels/, frames, [{ ...frame, size: { width: 0, height: 2 } }]],
    [/source 5 covers another rectangle/, frames, [{ ...frame, rect: { ...frame.rect, height: 1 } }]],
    [/source 1 covers another rectangle/, tile, [{ ...tileResult, rect: { ...tile.rect, x: 0 } }]],
    [/source 1 is 8 x 9 but was planned as 9 x 9/, tile, [{ ...tileResult, size: { width: 8, height: 9 } }]],
  ];
  for (const [why, work, results] of refusals) {
    assertRefused(why, work, { results, errors: work === frames ? [error] : [] }, shape);
  }
});

test('of a grid, a tile answers for the cells that it touches, and each of them must add up', () => {
  // Columns begin at 0, 3 and 6, rows at 0 and 4: the tile touches two cells of the lower row, with 4 and 4 of their pixels.
  const gridded = { grid: { rows: 2, columns: 3 }, channels: 2, bins: 2 };
  const good = { ...tileResult, counted: 6, bins: [4, 0, 1, 3, 0, 2, 2, 0] };
  checkAnswer(tile, { results: [good], errors: [] }, gridded);
  const refusals: [why: RegExp, change: Partial<SourceResult>][] = [
    [/source 1 has 4 bins instead of 8/, { bins: [3, 3, 6, 0] }],
    [/source 1 has 24 bins instead of 8/, { bins: Array(24).fill(0), counted: 0 }],
    [/source 1 has 5 pixels in a cell of 4/, { bins: [5, 0, 5, 0, 0, 1, 1, 0] }],
    [/source 1 has 3 pixels in channel 0 of a cell but 4 in channel 1/, { bins: [3, 0, 4, 0, 0, 3, 3, 0] }],
    [/source 1 counts 6 pixels but its bins hold 5/, { bins: [4, 0, 4, 0, 0, 1, 1, 0] }],
  ];
  for (const [why, change] of refusals) {
    assertRefused(why, tile, { results: [{ ...good, ...change }], errors: [] }, gridded);
  }
});

test('for any grid, the right counts of every cell are taken and one pixel more or less in any bin is not', () => {
  const side = fc.integer({ min: 1, max: 9 });
  const scene = fc.record({ width: side, height: side, rows: side, columns: side, channels: fc.constantFrom(1, 3) });
  fc.assert(
    fc.property(scene, fc.nat(), fc.constantFrom(-1, 1), ({ width, height, rows, columns, channels }, pick, change) => {
      const [whole, grid] = [
        { x: 0, y: 0, width, height },
        { rows, columns },
      ];
      const bins = cellsOf(grid, whole, whole).flatMap(({ rect }) => {
        return Array.from({ length: channels }, (_, c) => [c, pixelsOf(rect) - c]).flat();
      });
      const work: ShardWork = { kind: 'frames', sources: plannedSources([{ index: 0, uri: 'file:///0' }]) };
      const shapeOfAll = { grid, channels, bins: 2 };
      const result: SourceResult = { source: 0, size: { width, height }, rect: whole, counted: width * height, bins };
      if (bins.every((count) => count >= 0)) checkAnswer(work, { results: [result], errors: [] }, shapeOfAll);
      bins[pick % bins.length]! += change;
      assert.throws(() => checkAnswer(work, { results: [result], errors: [] }, shapeOfAll), InvalidResultError);
    }),
  );
});

test('without a histogram there are no bins, and up to all pixels are counted, whatever the grid', () => {
  const none = { grid: { rows: 2, columns: 2 }, channels: 1, bins: 0 };
  for (const counted of [0, 5, 8])
    checkAnswer(tile, { results: [{ ...tileResult, counted, bins: [] }], errors: [] }, none);
  const refusals: [why: RegExp, change: Partial<SourceResult>][] = [
    [/source 1 has 1 bins instead of 0/, { bins: [8] }],
    [/source 1 counts 9 of 8 pixels/, { counted: 9 }],
    [/source 1 counts -1 of 8 pixels/, { counted: -1 }],
  ];
  for (const [why, change] of refusals) {
    assertRefused(why, tile, { results: [{ ...tileResult, bins: [], ...change }], errors: [] }, none);
  }
});

function assertRefused(why: RegExp, ...rest: Parameters<typeof checkAnswer>): void {
  assert.throws(
    () => checkAnswer(...rest),
    (thrown: Error) => {
      assert.ok(thrown instanceof InvalidResultError, String(thrown));
      assert.match(thrown.message, why);
      return true;
    },
  );
}

const pixelsOf = ({ width, height }: Rect): number => width * height;
