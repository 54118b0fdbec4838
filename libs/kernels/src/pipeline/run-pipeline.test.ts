import assert from 'node:assert/strict';
import test from 'node:test';
import { runs } from '@halogrid/testing';
import fc from 'fast-check';
import { runCpu } from '../cpu.ts';
import { borderModes } from '../kernel/border.ts';
import type { AskedOperation } from '../kernel/operation.ts';
import { runReference } from '../reference.ts';
import { noiseImage, samplesOf, staged, type TestImage, tileArbitrary } from '../testing/index.ts';
import { type Cell, cellsOf } from './grid.ts';
import { createPipeline } from './pipeline.ts';

const lbp = (convention: string): AskedOperation => ({ kernel: 'lbp', parameters: { convention } });

/** Runs kernels one after another over whole images, each as its own pipeline. */
function oneByOne(operations: readonly AskedOperation[], image: TestImage<Uint8Array>): Uint8Array {
  let at = image;
  for (const operation of operations) {
    const pipeline = createPipeline([operation]);
    const { item, bytes } = staged(pipeline, at);
    const pixels = samplesOf(pipeline, runReference(pipeline, bytes, item, true), at) as Uint8Array;
    at = { ...at, pixels };
  }
  return at.pixels;
}

const chains: AskedOperation[][] = [
  [lbp('nw-cw-msb'), lbp('nw-cw-lsb')],
  [lbp('nw-cw-lsb'), lbp('nw-cw-msb'), lbp('nw-cw-lsb')],
];

for (const [name, run] of [
  ['the references', runReference],
  ['the cpu device', runCpu],
] as const) {
  test(`${name}: a pipeline gives each tile what its kernels, run one by one, give on the whole image`, () => {
    fc.assert(
      fc.property(
        tileArbitrary(20, 20),
        fc.constantFrom(...chains),
        fc.constantFrom(...borderModes),
        ({ size, tile, seed, levels }, chain, border) => {
          const operations = chain.map((operation) => ({ ...operation, border }));
          const image = noiseImage(size, seed, levels);
          const pipeline = createPipeline(operations);
          const { item, bytes } = staged(pipeline, image, tile);
          const codes = samplesOf(pipeline, run(pipeline, bytes, item, true), tile);
          const whole = oneByOne(operations, image);
          for (let y = 0; y < tile.height; y++) {
            const at = (tile.y + y) * size.width + tile.x;
            const row = codes.subarray(y * tile.width, (y + 1) * tile.width);
            assert.deepEqual(row, whole.subarray(at, at + tile.width));
          }
        },
      ),
      { numRuns: runs(300) },
    );
  });
}

test("the histograms of a grid's cells stay the same if each cell is computed as a tile", () => {
  fc.assert(
    fc.property(
      tileArbitrary(30, 30),
      fc.record({ rows: fc.integer({ min: 1, max: 7 }), columns: fc.integer({ min: 1, max: 7 }) }),
      fc.constantFrom(...borderModes),
      ({ size, tile, seed, levels }, grid, border) => {
        const pipeline = createPipeline([{ ...lbp('nw-cw-msb'), border }]);
        const image = noiseImage(size, seed, levels);
        const { item, bytes } = staged(pipeline, image, tile, grid);
        const result = runCpu(pipeline, bytes, item, true);
        const histogramOf = ({ rect }: Cell) => {
          const cell = staged(pipeline, image, rect);
          return runCpu(pipeline, cell.bytes, cell.item, false);
        };
        const cells = cellsOf(grid, size, tile).map(histogramOf);
        assert.deepEqual(
          [...result.bins],
          cells.flatMap(({ bins }) => [...bins]),
        );
        assert.equal(
          result.counted,
          cells.reduce((sum, { counted }) => sum + counted, 0),
        );
      },
    ),
    { numRuns: runs(300) },
  );
});
