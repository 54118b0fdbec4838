import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { compareNatural } from './natural-order.ts';
import { sortNatural } from './sort-natural.ts';

const units = [
  '0',
  '00',
  '1',
  '2',
  '9',
  '10',
  'a',
  'b',
  '-',
  '.',
  '/',
  ':',
  ' ',
  'é',
  'ÿ',
  'Ā',
  '漢',
  '\ue000',
  '\uffff',
  '😀',
  '\u0001',
];
const part = fc.array(fc.constantFrom(...units), { maxLength: 5 }).map((parts) => parts.join(''));
const name = fc.oneof(
  part,
  part.map((end) => `camera-07/2026-01-31T12.${end}`),
  fc.nat(400).map((n) => `frame${n}.jpg`),
  fc.tuple(fc.nat(3), fc.nat(99)).map(([zeros, n]) => `frame${'0'.repeat(zeros)}${n}.jpg`),
  fc.bigInt({ min: 0n, max: 10n ** 20n }).map((n) => `frame${n}`),
);

test('names are sorted as comparing them does, whatever they share', () => {
  fc.assert(
    fc.property(fc.array(name, { maxLength: 200 }), fc.constantFrom('', 'f', 'd'), (names, letter) => {
      const compare = (a: string, b: string): number => compareNatural(a, b, letter.length);
      const given = names.map((one) => letter + one);
      assert.deepEqual(sortNatural([...given], letter.length, compare), given.toSorted(compare));
    }),
    { numRuns: 400 },
  );
});
