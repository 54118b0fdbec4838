import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareNatural } from '@halogrid/sources/natural-order';
import { repeated } from '@halogrid/testing';
import fc from 'fast-check';
import { LastName } from './last-name.ts';

/** Names that are mostly alike, with numbers of different lengths and zeros in front of some. */
const part = fc.constantFrom('a', 'b', '/', '.', '-', '0', '1', '9', '10', '09', '007');
const names = fc.array(fc.record({ parts: fc.array(part, { minLength: 1, maxLength: 6 }), asBytes: fc.boolean() }), {
  maxLength: 12,
});

test('a name is taken where it comes behind the last one in natural order, as bytes or as a string', () => {
  fc.assert(
    fc.property(names, (asked) => {
      const last = new LastName(64);
      // As others take it, which are strings alone.
      let expected = '';
      for (const { parts, asBytes } of asked) {
        const name = parts.join('');
        const bytes = Buffer.alloc(64, 'x');
        const end = bytes.write(name, 'latin1');
        const isTaken = asBytes ? last.takeBytes(bytes, end) : last.take(name);
        assert.equal(isTaken, compareNatural(name, expected) > 0, `${name} behind ${expected}`);
        if (isTaken) expected = name;
      }
    }),
    { numRuns: repeated(400, 2000) },
  );
});
