import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runs } from '@halogrid/testing';
import fc from 'fast-check';
import { timeOf } from './time-of-version.ts';

const size = fc.oneof(fc.nat(), fc.maxSafeNat());
const digits = (maxLength: number) => fc.string({ unit: fc.constantFrom(...'0123456789'), maxLength });
const time = fc.oneof(
  fc.tuple(digits(17), fc.constantFrom('', '.', '.5'), digits(9)).map((parts) => parts.join('')),
  fc.double({ min: 0, max: 1e16, noNaN: true }).map(String),
  fc.constantFrom('-1', '-0', 'NaN', 'Infinity', '1e3', '1e21', ' 5', '5 ', '1.2.3', '0', '0.1', '+1', '٣'),
);

test('a time is told if size and time are printed as they are in the version', () => {
  fc.assert(
    fc.property(size, time, fc.constantFrom(' ', '  ', '', ' x'), (size, time, between) => {
      const version = `${size}${between}${time}`;
      const read = Number(version.slice(version.indexOf(' ') + 1));
      const isSame = Number.isFinite(read) && `${size} ${read}` === version;
      assert.equal(timeOf(version, size), isSame ? read : undefined);
      assert.equal(timeOf(version, size + 1), undefined);
    }),
    { numRuns: runs(2_000) },
  );
});
