import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPipeline } from '@halogrid/kernels';
import { cellsOf } from '@halogrid/kernels/grid';
import { noZone } from '@halogrid/results/found-shard';
import { binsOfSource, histogramShape } from '@halogrid/results/histogram-shape';
import fc from 'fast-check';
import { FrameOutcomes } from './frame-outcomes.ts';
import { sourceError } from './source-errors.ts';
import { lbp } from './testing/shard-fixture.ts';

const side = fc.integer({ min: 1, max: 9 });
const grid = fc.record({ rows: fc.integer({ min: 1, max: 3 }), columns: fc.integer({ min: 1, max: 3 }) });

/** The outcome of a frame: none, an error, or the results of pipelines. */
const outcome = fc.oneof(
  fc.constant('none' as const),
  fc.constant('error' as const),
  fc.record({
    width: side,
    height: side,
    seed: fc.nat(1000),
    localMs: fc.option(fc.nat()),
    offsetMinutes: fc.option(fc.integer({ min: -1080, max: 1080 })),
    mended: fc.option(fc.constantFrom('some bytes', 'other bytes')),
    // A decoder may say that a frame is bad before its batch is computed, or after.
    fails: fc.constantFrom('never', 'before', 'after'),
  }),
);

const pipelines = [{ labels: 'uniform' }, { labels: 'all' }, { labels: 'var' }].map((parameters) => ({
  pipeline: createPipeline([lbp(parameters)]),
  scratch: 'file:///scratch',
}));

test('for all outcomes in every order, results are packed without gaps, and the other frames are named', () => {
  fc.assert(
    fc.property(fc.array(outcome, { maxLength: 12 }), grid, fc.gen(), (all, cells, gen) => {
      const outcomes = new FrameOutcomes({ pipelines, grid: cells }, all.length);
      const shapes = pipelines.map(({ pipeline }) => histogramShape(pipeline, cells));
      const binsOf = (i: number, nth: number): Uint32Array => {
        const { width, height, seed } = all[i] as Exclude<(typeof all)[number], string>;
        const touched = cellsOf(cells, { width, height }, { x: 0, y: 0, width, height }).length;
        return Uint32Array.from({ length: touched * shapes[nth]!.bins }, (_, bin) => (seed * (bin + 1) * 7919) % 251);
      };
      const errorAt = (i: number) => sourceError({ index: 10 * i, uri: '', sizeBytes: 0 }, 'read', `It is ${i}`);
      for (const i of gen(fc.shuffledSubarray, [...all.keys()], { minLength: all.length })) {
        const one = all[i]!;
        if (one === 'none') continue;
        if (one === 'error') {
          outcomes.fail(i, errorAt(i));
          continue;
        }
        const size = { width: one.width, height: one.height };
        const { localMs, offsetMinutes, mended } = one;
        const captured = localMs === null ? undefined : { localMs, ...(offsetMinutes !== null && { offsetMinutes }) };
        const items = shapes.map((_, nth) => ({ counted: one.seed + nth, bins: binsOf(i, nth) }));
        const source = { index: 10 * i, uri: '', sizeBytes: 0 };
        if (one.fails === 'before') outcomes.fail(i, errorAt(i));
        outcomes.put(i, { source, size, rect: { x: 0, y: 0, ...size }, captured, mended: mended ?? undefined }, items);
      }
      for (const [i, one] of all.entries()) {
        if (typeof one === 'object' && one.fails === 'after') outcomes.fail(i, errorAt(i));
        assert.equal(outcomes.has(i), one !== 'none');
      }
      const found = [...all.keys()].filter((i) => typeof all[i] === 'object' && all[i].fails === 'never');
      const failed = [...all.keys()].filter((i) => all[i] !== 'none' && !found.includes(i));
      const at = (i: number) => all[i] as Exclude<(typeof all)[number], string>;
      assert.deepEqual(outcomes.errors, failed.map(errorAt));
      assert.deepEqual(
        outcomes.mended,
        found.filter((i) => at(i).mended !== null).map((i) => [i, at(i).mended]),
      );
      const block = new Uint8Array(3);
      const shard = outcomes.end(block);
      assert.equal(shard.block, block);
      assert.deepEqual([...shard.found], found);
      assert.deepEqual(
        [...shard.widths, ...shard.heights],
        [...found.map((i) => at(i).width), ...found.map((i) => at(i).height)],
      );
      for (const [row, i] of found.entries()) {
        const { localMs, offsetMinutes } = at(i);
        const time = [shard.captured?.localMs[row] ?? Number.NaN, shard.captured?.offsetMinutes[row] ?? noZone];
        const stated = localMs === null ? [Number.NaN, noZone] : [localMs, offsetMinutes ?? noZone];
        assert.deepEqual(time, stated);
      }
      for (const [nth, shape] of shapes.entries()) {
        const { counted, bins } = shard.parts[nth]!;
        assert.deepEqual(
          [...counted],
          found.map((i) => at(i).seed + nth),
        );
        assert.equal(bins.length, found.length * binsOfSource(shape));
        for (const [row, i] of found.entries()) {
          const { width, height } = at(i);
          const touched = cellsOf(cells, { width, height }, { x: 0, y: 0, width, height });
          for (let cell = 0; cell < cells.rows * cells.columns; cell++) {
            const place = touched.findIndex((one) => one.row * cells.columns + one.column === cell);
            const from = row * binsOfSource(shape) + cell * shape.bins;
            const its =
              place < 0
                ? new Uint32Array(shape.bins)
                : binsOf(i, nth).subarray(place * shape.bins, (place + 1) * shape.bins);
            assert.deepEqual([...bins.subarray(from, from + shape.bins)], [...its]);
          }
        }
      }
    }),
    { numRuns: 60 },
  );
});
