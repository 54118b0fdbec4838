import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { maxVarintBytes, readVarints, varintsLength, writeVarints } from './varints.ts';

const integer = fc.oneof(
  fc.nat(300),
  fc.nat(),
  fc.maxSafeNat(),
  fc.nat(53).map((power) => 2 ** power - 1),
);

test('integers up to 2^53 - 1 are read as they were written, wherever they lie', () => {
  fc.assert(
    fc.property(fc.array(integer), fc.nat(5), (values, at) => {
      const bytes = new Uint8Array(at + values.length * maxVarintBytes);
      const end = writeVarints(values, bytes, at);
      assert.equal(writeVarints(Float64Array.from(values), bytes, at), end);
      assert.equal(varintsLength(values), end - at);
      const read = new Float64Array(values.length);
      assert.equal(readVarints(bytes.slice(0, end), at, read), end);
      assert.deepEqual([...read], values);
    }),
  );
});

test('a number takes a byte for every 7 bits', () => {
  const table: [value: number, bytes: number[]][] = [
    [0, [0]],
    [127, [127]],
    [128, [0x80, 1]],
    [300, [0xac, 2]],
    [2 ** 32, [0x80, 0x80, 0x80, 0x80, 0x10]],
    [2 ** 53 - 1, [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f]],
  ];
  for (const [value, expected] of table) {
    const bytes = new Uint8Array(maxVarintBytes);
    const end = writeVarints([value], bytes, 0);
    assert.deepEqual([...bytes.subarray(0, end)], expected);
  }
});
