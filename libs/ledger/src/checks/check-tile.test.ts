import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Rect } from '@halogrid/geometry';
import type { SourceResult, TileWork } from '@halogrid/jobs/shard';
import { plannedSources } from '@halogrid/jobs/testing-planned';
import { cellsOf } from '@halogrid/kernels';
import fc from 'fast-check';
import { InvalidResultError } from './check-answer.ts';
import { checkTile } from './check-tile.ts';

const shape = { grid: { rows: 1, columns: 1 }, channels: 2, bins: 2 };
const tile: TileWork = {
  kind: 'tile',
  sources: plannedSources([{ index: 1, uri: 'file:///1' }]),
  size: { width: 9, height: 9 },
  rect: { x: 4, y: 4, width: 4, height: 2 },
};
const { size, rect } = tile;
const result: SourceResult = { source: 1, size, rect, counted: 7, bins: [3, 4, 7, 0] };
const error = { source: 1, stage: 'decode', error: 'broken' };

test('an answer that covers the work and adds up is accepted, with its results in the order of pipelines', () => {
  assert.deepEqual(checkTile(tile, { results: [result], errors: [] }, [shape]), [result]);
  assert.deepEqual(checkTile(tile, { results: [], errors: [error] }, [shape, shape]), []);
  const second = { ...result, pipeline: 1 };
  assert.deepEqual(checkTile(tile, { results: [second, result], errors: [] }, [shape, shape]), [result, second]);
});

test('an answer that cannot be right is refused with the source and the reason', () => {
  const refusals: [why: RegExp, results: SourceResult[]][] = [
    [/source 7 was not asked for/, [result, { ...result, source: 7 }]],
    [/source 1 was not asked for, or is answered twice/, [result, result]],
    [/source 1 has a result of pipeline 1, which the job has not/, [result, { ...result, pipeline: 1 }]],
    [/source 1 is not answered/, []],
    [/source 1 has 3 bins instead of 4/, [{ ...result, bins: [3, 4, 7] }]],
    [/source 1 has 7 pixels in channel 0 .* but 6 in channel 1/, [{ ...result, bins: [3, 4, 6, 0] }]],
    [/source 1 counts 7 pixels but its bins hold 6/, [{ ...result, bins: [3, 3, 6, 0] }]],
    [/source 1 has -1 pixels in bin 0/, [{ ...result, bins: [-1, 8, 7, 0] }]],
    [/source 1 has 0.5 pixels in bin 0/, [{ ...result, bins: [0.5, 6.5, 7, 0] }]],
    [/source 1 counts 9 of 8 pixels/, [{ ...result, counted: 9, bins: [9, 0, 9, 0] }]],
    [/source 1 counts NaN of 8 pixels/, [{ ...result, counted: Number.NaN }]],
    [/source 1 covers another rectangle/, [{ ...result, rect: { ...rect, x: 0 } }]],
    [/source 1 is 8 x 9 but was planned as 9 x 9/, [{ ...result, size: { width: 8, height: 9 } }]],
    [/source 1 has a capture time that is none/, [{ ...result, captured: { localMs: Number.NaN } }]],
  ];
  for (const [why, results] of refusals) assertRefused(why, tile, { results, errors: [] }, [shape]);
  const twice = /source 1 was not asked for, or is answered twice/;
  assertRefused(twice, tile, { results: [result], errors: [error] }, [shape]);
  assertRefused(twice, tile, { results: [], errors: [error, error] }, [shape]);
  assertRefused(/source 1 is not answered/, tile, { results: [result], errors: [] }, [shape, shape]);
});

test('matrices may count different pixels, and pairs in both directions', () => {
  const matrices = { levels: 2, names: ['1@0', '1@90'], isSymmetric: false };
  const ofMatrices = (isSymmetric: boolean) => ({ ...shape, bins: 4, matrices: { ...matrices, isSymmetric } });
  const found = (...bins: number[]) => ({ ...result, counted: bins[0]! + bins[1]!, bins });
  const good = found(3, 4, 0, 0, 2, 2, 0, 0);
  assert.deepEqual(checkTile(tile, { results: [good], errors: [] }, [ofMatrices(false)]), [good]);
  const twice = found(6, 8, 0, 0, 4, 4, 0, 0);
  assert.deepEqual(checkTile(tile, { results: [twice], errors: [] }, [ofMatrices(true)]), [twice]);
  const refusals: [why: RegExp, isSymmetric: boolean, bins: number[]][] = [
    [/source 1 counts 9 of 8 pixels/, false, [5, 4, 0, 0, 2, 2, 0, 0]],
    [/source 1 has 9 pixels in a cell of 8/, false, [3, 4, 0, 0, 5, 4, 0, 0]],
    [/source 1 has 17 pixels in a cell of 16/, true, [3, 4, 0, 0, 9, 8, 0, 0]],
  ];
  for (const [why, isSymmetric, bins] of refusals) {
    assertRefused(why, tile, { results: [found(...bins)], errors: [] }, [ofMatrices(isSymmetric)]);
  }
});

test('bands may count different pixels, the channels of a band count the same', () => {
  const bands = { ...shape, channels: 4, bins: 2, bands: 2 };
  const found = (...bins: number[]) => ({ ...result, counted: bins[0]! + bins[1]!, bins });
  const good = found(3, 4, 5, 2, 1, 0, 0, 1);
  assert.deepEqual(checkTile(tile, { results: [good], errors: [] }, [bands]), [good]);
  const refusals: [why: RegExp, bins: number[]][] = [
    [/source 1 has 7 pixels in channel 0 of a cell but 6 in channel 1/, [3, 4, 4, 2, 1, 0, 0, 1]],
    [/source 1 has 1 pixels in channel 2 of a cell but 2 in channel 3/, [3, 4, 5, 2, 1, 0, 1, 1]],
    [/source 1 has 9 pixels in a cell of 8/, [3, 4, 5, 2, 9, 0, 0, 9]],
  ];
  for (const [why, bins] of refusals) assertRefused(why, tile, { results: [found(...bins)], errors: [] }, [bands]);
});

test('with a grid, a tile answers for the cells that it touches, and each of them must add up', () => {
  // Columns begin at 0, 3 and 6, rows at 0 and 4: the tile touches two cells of the lower row, with 4 and 4 of their
  // pixels.
  const gridded = { grid: { rows: 2, columns: 3 }, channels: 2, bins: 2 };
  const good = { ...result, counted: 6, bins: [4, 0, 1, 3, 0, 2, 2, 0] };
  checkTile(tile, { results: [good], errors: [] }, [gridded]);
  const refusals: [why: RegExp, change: Partial<SourceResult>][] = [
    [/source 1 has 4 bins instead of 8/, { bins: [3, 3, 6, 0] }],
    [/source 1 has 24 bins instead of 8/, { bins: Array(24).fill(0), counted: 0 }],
    [/source 1 has 5 pixels in a cell of 4/, { bins: [5, 0, 5, 0, 0, 1, 1, 0] }],
    [/source 1 has 3 pixels in channel 0 of a cell but 4 in channel 1/, { bins: [3, 0, 4, 0, 0, 3, 3, 0] }],
    [/source 1 counts 6 pixels but its bins hold 5/, { bins: [4, 0, 4, 0, 0, 1, 1, 0] }],
  ];
  for (const [why, change] of refusals) {
    assertRefused(why, tile, { results: [{ ...good, ...change }], errors: [] }, [gridded]);
  }
});

test('for any grid, the right counts of every cell are accepted, and one pixel more or less in any bin is refused', () => {
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
      const sources = plannedSources([{ index: 0, uri: 'file:///0' }]);
      const work: TileWork = { kind: 'tile', sources, size: { width, height }, rect: whole };
      const shapeOfAll = { grid, channels, bins: 2 };
      const answered: SourceResult = { source: 0, size: work.size, rect: whole, counted: width * height, bins };
      if (bins.every((count) => count >= 0)) checkTile(work, { results: [answered], errors: [] }, [shapeOfAll]);
      bins[pick % bins.length]! += change;
      assert.throws(() => checkTile(work, { results: [answered], errors: [] }, [shapeOfAll]), InvalidResultError);
    }),
  );
});

test('without a histogram there are no bins, and up to all pixels are counted, whatever the grid', () => {
  const none = { grid: { rows: 2, columns: 2 }, channels: 1, bins: 0 };
  for (const counted of [0, 5, 8]) checkTile(tile, { results: [{ ...result, counted, bins: [] }], errors: [] }, [none]);
  const refusals: [why: RegExp, change: Partial<SourceResult>][] = [
    [/source 1 has 1 bins instead of 0/, { bins: [8] }],
    [/source 1 counts 9 of 8 pixels/, { counted: 9 }],
    [/source 1 counts -1 of 8 pixels/, { counted: -1 }],
  ];
  for (const [why, change] of refusals) {
    assertRefused(why, tile, { results: [{ ...result, bins: [], ...change }], errors: [] }, [none]);
  }
});

function assertRefused(why: RegExp, ...rest: Parameters<typeof checkTile>): void {
  assert.throws(
    () => checkTile(...rest),
    (thrown: Error) => {
      assert.ok(thrown instanceof InvalidResultError, String(thrown));
      assert.match(thrown.message, why);
      return true;
    },
  );
}

const pixelsOf = ({ width, height }: Rect): number => width * height;
