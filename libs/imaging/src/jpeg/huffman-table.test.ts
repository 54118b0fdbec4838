import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { buildHuffmanTable, lookUp } from './huffman-table.ts';
import { randomCodes } from './testing/random-codes.ts';
import { randomSource } from './testing/random-source.ts';

test('each code is found, whatever follows it, and bits that begin with no code are not', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 2 ** 30 }), fc.integer({ min: 1, max: 256 }), (seed, count) => {
      const random = randomSource(seed);
      const { counts, symbols, codes } = randomCodes(
        Array.from({ length: count }, (_, i) => (7 * i) % 256),
        random,
      );
      const table = buildHuffmanTable(counts, symbols)!;
      for (const [symbol, { code, bits }] of codes) {
        const next = (code * 2 ** (16 - bits)) | random(2 ** (16 - bits));
        assert.equal(lookUp(table, next), bits | (symbol << 8));
      }
      assert.equal(lookUp(table, 0xffff), 0);
    }),
    { numRuns: 60 },
  );
});

test('too many codes of a length, or a code of ones only, make no table', () => {
  const counts = (...first: number[]) => Uint8Array.from({ length: 16 }, (_, i) => first[i] ?? 0);
  const symbols = Uint8Array.from({ length: 8 }, (_, i) => i);
  assert.ok(buildHuffmanTable(counts(1, 1), symbols));
  for (const wrong of [counts(2), counts(3), counts(1, 2), counts(0, 3, 2)]) {
    assert.equal(buildHuffmanTable(wrong, symbols), undefined);
  }
});
