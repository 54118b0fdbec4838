import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type AskedRange, parseByteRange } from './byte-range.ts';

const part = (start: number, end: number): AskedRange => ({ kind: 'part', start, end });
const whole: AskedRange = { kind: 'whole' };
const unsatisfiable: AskedRange = { kind: 'unsatisfiable' };

// The examples of RFC 9110, section 14.1.2, have 10000 bytes.
const table: [string | undefined, number, AskedRange][] = [
  ['bytes=0-499', 10_000, part(0, 499)],
  ['bytes=500-999', 10_000, part(500, 999)],
  ['bytes=-500', 10_000, part(9500, 9999)],
  ['bytes=9500-', 10_000, part(9500, 9999)],
  ['bytes=0-0', 10_000, part(0, 0)],
  ['Bytes=0-0', 10_000, part(0, 0)],
  ['bytes=9999-20000', 10_000, part(9999, 9999)],
  ['bytes=-20000', 10_000, part(0, 9999)],
  ['bytes=10000-', 10_000, unsatisfiable],
  ['bytes=-0', 10_000, unsatisfiable],
  ['bytes=0-', 0, unsatisfiable],
  ['bytes=-1', 0, unsatisfiable],
  ['bytes=5-4', 10_000, whole],
  ['bytes=0-0,-1', 10_000, whole],
  ['bytes=-', 10_000, whole],
  ['bytes=a-b', 10_000, whole],
  ['lines=0-4', 10_000, whole],
  ['', 10_000, whole],
  [undefined, 10_000, whole],
];

for (const [header, size, expected] of table) {
  test(`Range: ${header} of ${size} bytes`, () => assert.deepEqual(parseByteRange(header, size), expected));
}

test('for any request, a part lies inside the file', () => {
  fc.assert(
    fc.property(fc.nat(), fc.nat(), fc.nat(10_000), (first, last, size) => {
      for (const header of [`bytes=${first}-${last}`, `bytes=${first}-`, `bytes=-${last}`]) {
        const range = parseByteRange(header, size);
        if (range.kind === 'part') assert.ok(0 <= range.start && range.start <= range.end && range.end < size);
      }
    }),
  );
});
