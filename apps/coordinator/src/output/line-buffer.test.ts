import assert from 'node:assert/strict';
import { test } from 'node:test';
import { repeated } from '@halogrid/testing';
import fc from 'fast-check';
import { LineBuffer } from './line-buffer.ts';

const texts = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' }), fc.string({ maxLength: 2000 }));

const numbers = fc.oneof(
  fc.nat(),
  fc.maxSafeNat(),
  fc.constantFrom(0, 9, 10, 99, 100, 999_999_999, 1_000_000_000, 2 ** 31 - 1, 2 ** 31, 2 ** 53 - 1),
);

const decimals = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }).filter((number) => !Object.is(number, -0)),
  fc.tuple(fc.maxSafeNat(), fc.nat(5)).map(([digits, places]) => digits / 10 ** places),
  fc.constantFrom(0, 0.1, 0.001, 0.5, 1.999, 1700000000001.25, 999_999_999_999.999, 1e12, 1e15, 1e21),
);

test('numbers that are not whole are as JSON.stringify has them', () => {
  fc.assert(
    fc.property(fc.array(decimals), (given) => {
      const lines = new LineBuffer();
      for (const number of given) {
        lines.decimal(number);
        lines.raw(Buffer.from('é\n'));
      }
      assert.equal(lines.bytes.toString(), given.map((number) => `${JSON.stringify(number)}é\n`).join(''));
    }),
    { numRuns: repeated(200, 1000) },
  );
});

test('texts, as strings and as UTF-8, digits and numbers are JSON as JSON.stringify has it', () => {
  fc.assert(
    fc.property(fc.array(texts), fc.uint8Array(), fc.nat(9), numbers, (given, bytes, before, number) => {
      const lines = new LineBuffer();
      for (const text of given) {
        const utf8 = Buffer.from('x'.repeat(before) + text);
        lines.ascii('[');
        lines.text(text);
        lines.ascii(',');
        lines.text({ bytes: utf8, from: before, end: utf8.length });
        lines.ascii(',');
        lines.hex(bytes, Math.min(1, bytes.length), bytes.length);
        lines.ascii(',');
        lines.number(number);
        lines.put('] é\n');
      }
      const digits = Buffer.from(bytes.subarray(1)).toString('hex');
      const expected = given.map((text) => {
        // A half of a surrogate pair has no UTF-8, and is replaced before it is there.
        const known = Buffer.from(text).toString();
        return `[${JSON.stringify(text)},${JSON.stringify(known)},"${digits}",${number}] é\n`;
      });
      assert.equal(lines.bytes.toString(), expected.join(''));
      assert.equal(lines.length, Buffer.byteLength(expected.join('')));
      lines.clear();
      assert.equal(lines.bytes.length, 0);
    }),
  );
});
