import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isThorough } from '@halogrid/testing';
import fc from 'fast-check';
import { distances } from '../distances/distance.ts';
import { distanceNames } from '../distances/distance-names.ts';
import { massOf, type Vector } from '../distances/vector.ts';
import { type Block, BlockScanner } from './block-scanner.ts';
import { mostApart } from './bound.ts';
import { type CountBytes, countArrays, lengthUnit, narrowCounts } from './count-arrays.ts';
import { estimators } from './estimators.ts';

const scanner = new BlockScanner();
const widths: CountBytes[] = [1, 2, 4];

/** Counts of a vector: few or many that are not 0, small ones and the largest of the width. */
const vectors = fc
  .record({
    width: fc.constantFrom(...widths),
    units: fc.integer({ min: 1, max: 40 }),
    rows: fc.integer({ min: 1, max: 6 }),
  })
  .chain(({ width, units, rows }) => {
    const length = units * lengthUnit;
    const largest = 2 ** (8 * width) - 1;
    const count = fc.oneof(
      { weight: 3, arbitrary: fc.constant(0) },
      { weight: 3, arbitrary: fc.nat({ max: 9 }) },
      { weight: 2, arbitrary: fc.nat({ max: Math.min(largest, 2 ** 31 - 1) }) },
      { weight: 1, arbitrary: fc.constant(largest) },
    );
    const vector = fc.array(count, { minLength: length, maxLength: length });
    return fc.record({
      width: fc.constant(width),
      length: fc.constant(length),
      query: vector,
      rows: fc.array(vector, { minLength: rows, maxLength: rows }),
    });
  });

/** A block in the scanner's memory. */
function placed(width: CountBytes, length: number, rows: readonly number[][]): Block {
  const bytes = scanner.memory(width * length * rows.length);
  new countArrays[width](bytes.buffer as ArrayBuffer, bytes.byteOffset, length * rows.length).set(rows.flat());
  return { width, length, masses: Float64Array.from(rows, massOf) };
}

const vectorOf = (counts: readonly number[]): Vector => ({ bins: Float64Array.from(counts), mass: massOf(counts) });

test('estimates are off by less than half of their bound', () => {
  fc.assert(
    fc.property(vectors, ({ width, length, query, rows }) => {
      if (massOf(query) === 0) return;
      for (const name of distanceNames) {
        const block = placed(width, length, rows);
        const { near, bound } = scanner.estimate(name, vectorOf(query), block);
        for (const [i, row] of rows.entries()) {
          if (massOf(row) === 0) continue;
          const score = distances[name].score(vectorOf(query), vectorOf(row));
          const { of } = estimators[name];
          const off = Math.abs(near[i]! + of(score.value));
          // Cosines of vectors that are alike may be above 1.
          const apart = Math.max(0, of(score.value));
          assert.ok(off <= (mostApart(bound, apart) - apart) / 2, `${name}: off by ${off}`);
        }
      }
    }),
    { numRuns: isThorough ? 2_000 : 60 },
  );
});

test('if all vectors have the mass of the query, their common counts are whole numbers', () => {
  fc.assert(
    fc.property(vectors, ({ width, length, query, rows }) => {
      // Rows of the query's own counts in another order have its mass.
      const same = rows.map((_, i) => [...query.slice(i + 1), ...query.slice(0, i + 1)]);
      if (massOf(query) === 0 || massOf(query) >= 2 ** 32) return;
      const { near, bound } = scanner.estimate('intersection', vectorOf(query), placed(width, length, same));
      assert.ok(mostApart(bound, 0) < 1e-11);
      for (const [i, row] of same.entries())
        assert.equal(near[i], distances.intersection.score(vectorOf(query), vectorOf(row)).value - 1);
    }),
    { numRuns: isThorough ? 2_000 : 60 },
  );
});

test('estimates of vectors that hardly differ are hardly off', () => {
  const row = Array.from({ length: 256 }, (_, i) => 4000 + ((i * 7919) % 9000));
  const query = vectorOf(row.map((count, i) => count + (i % 5)));
  for (const name of ['chi2', 'hellinger', 'cosine'] as const) {
    const { near, bound } = scanner.estimate(name, query, placed(4, 256, [row]));
    const apart = estimators[name].of(distances[name].score(query, vectorOf(row)).value);
    assert.ok(apart > 0 && apart < 1e-6);
    assert.ok(mostApart(bound, apart) - apart < apart / 10, name);
    assert.ok(Math.abs(near[0]! + apart) < apart / 20, name);
  }
});

test('counts that only float64 holds are not estimated: nothing is ruled out', () => {
  const masses = Float64Array.of(2 ** 40, 2 ** 41);
  const { near } = scanner.estimate(
    'chi2',
    { bins: new Float64Array(16).fill(1), mass: 16 },
    { width: 8, length: 16, masses },
  );
  assert.deepEqual([...near], [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]);
});

test('counts are kept in as few bytes as hold all of them', () => {
  for (const [largest, kept] of [
    [255, Uint8Array],
    [256, Uint16Array],
    [65_536, Uint32Array],
    [2 ** 32, Float64Array],
  ] as const) {
    const counts = narrowCounts([0, largest, 1]);
    assert.ok(counts instanceof kept);
    assert.deepEqual([...counts], [0, largest, 1]);
  }
});
