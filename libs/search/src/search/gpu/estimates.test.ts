import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Estimates } from './estimates.ts';

test('whatever is among the best is not ruled out, as long as figures are within their bound', () => {
  const figure = fc.record({
    apart: fc.double({ min: 0, max: 1, noNaN: true }),
    off: fc.double({ min: -1, max: 1, noNaN: true }),
  });
  fc.assert(
    fc.property(fc.array(figure, { minLength: 1, maxLength: 40 }), fc.integer({ min: 1, max: 50 }), (made, top) => {
      const estimates = new Estimates('roots', 1024);
      // A figure that is off by as much as the bound allows, or by less.
      const figures = made.map(({ apart, off }) => -apart * (1 + (off * 1000) / 2 ** 24));
      const limit = estimates.limit(figures, top);
      const best = made.map(({ apart }, i) => ({ apart, figure: figures[i]! })).sort((a, b) => a.apart - b.apart);
      for (const one of best.slice(0, top)) assert.ok(estimates.least(one.figure) <= limit);
      if (made.length < top) assert.equal(limit, Number.POSITIVE_INFINITY);
    }),
  );
});
