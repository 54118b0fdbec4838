import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { gpuBound } from '../../scan/gpu/gpu-bound.ts';
import { noise } from '../../testing/make-job.ts';
import { atLeast, GpuEstimates } from './estimates.ts';

const figure = fc.record({
  apart: fc.double({ min: 0, max: 1, noNaN: true }),
  off: fc.double({ min: -1, max: 1, noNaN: true }),
});

test('none of the best vectors is ruled out as long as figures are within their bound', () => {
  const made = fc.array(figure, { minLength: 1, maxLength: 40 });
  const program = fc.constantFrom('absolute', 'chiSquare', 'roots', 'directions', 'shared' as const);
  fc.assert(
    fc.property(
      made,
      program,
      fc.integer({ min: 1, max: 50 }),
      fc.constantFrom(64, 1024, 2 ** 20),
      (all, name, top, length) => {
        const [estimates, mass] = [new GpuEstimates(name, length, 1000), name === 'shared' ? 1000 : undefined];
        const { constant, root, share } = gpuBound(name, length);
        const vectors = all.map(({ apart, off }) => {
          // Off by as much as the bound allows.
          const seen = Math.max(0, apart + (off * (constant + root * Math.sqrt(apart) + share * apart)) / 2);
          return { apart, figure: mass === undefined ? -seen : (1 - seen) * mass };
        });
        const limit = estimates.limit(
          Float64Array.from(vectors, (one) => one.figure),
          top,
        );
        vectors.sort((a, b) => a.apart - b.apart);
        for (const one of vectors.slice(0, top)) assert.ok(one.figure >= estimates.leastFigure(limit));
        if (all.length < top) assert.equal(limit, Number.POSITIVE_INFINITY);
      },
    ),
  );
});

test('no figure that may be one of the best is left out of many', () => {
  const estimates = new GpuEstimates('chiSquare', 1024);
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 8_000 }), fc.integer({ min: 1, max: 20 }), fc.nat(), (count, top, seed) => {
      const random = noise(seed);
      const figures = Float32Array.from({ length: count }, () => (random(9) === 0 ? -3e38 : -random(1e6) / 1e6));
      const { least, found } = estimates.nearest(figures, top);
      const known = figures.filter((figure) => figure > -1e38).sort();
      const last = known.at(-top) ?? Number.NEGATIVE_INFINITY;
      assert.ok(figures.every((figure, i) => figure <= -1e38 || figure < last || found.includes(i)));
      assert.ok(found.every((i) => figures[i]! >= least && figures[i]! > -1e38));
    }),
  );
});

test('the figures that are large enough are found, wherever they are', () => {
  fc.assert(
    fc.property(fc.float32Array({ maxLength: 400, noNaN: true }), fc.float({ noNaN: true }), (figures, least) => {
      const expected = [...figures.keys()].filter((i) => figures[i]! >= least);
      assert.deepEqual(atLeast(figures, least), expected);
    }),
  );
});
