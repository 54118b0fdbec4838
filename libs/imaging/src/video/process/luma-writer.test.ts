import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { LumaWriter } from './luma-writer.ts';
import { expandedLuma, lumaFormat } from './video-gray.ts';

const writer = new LumaWriter();

/** Values one after another, as a plane of one row. */
function written(name: string, values: readonly number[], isFull: boolean): number[] {
  const format = lumaFormat(name)!;
  const samples = format.pixel === 'u8' ? Uint8Array.from(values) : Uint16Array.from(values);
  const bytes = new Uint8Array(samples.buffer);
  const to = new Uint8Array(bytes.length);
  writer.write({ width: values.length, height: 1, bytes, stride: bytes.length, format, isFull }, to, to.length);
  return [...(format.pixel === 'u8' ? to : new Uint16Array(to.buffer))];
}
const range = (bits: number): number[] => Array.from({ length: 2 ** bits }, (_, i) => i);

for (const [name, bits] of [
  ['yuv420p', 8],
  ['yuv420p9le', 9],
  ['yuv420p10le', 10],
  ['yuv422p12le', 12],
  ['yuv444p14le', 14],
] as const) {
  test(`every value of ${bits} bits is expanded as its definition says, and kept in the full range`, () => {
    assert.deepEqual(written(name, range(bits), false), [...expandedLuma(bits)]);
    assert.deepEqual(written(name, range(bits), true), range(bits));
  });
}

test('values of the full range stay as they are stored, also if a decoder in hardware has them in high bits', () => {
  const values = [0, 1, 63, 64, 512, 1022, 1023];
  const high = values.map((luma) => luma << 6);
  assert.deepEqual(written('p010le', high, true), values);
  assert.deepEqual(written('p010le', high, false), written('yuv420p10le', values, false));
});

test('rows of any size and stride keep their places, and nothing beside them is touched', () => {
  const planes = fc.record({
    width: fc.integer({ min: 1, max: 700 }),
    height: fc.integer({ min: 1, max: 500 }),
    more: fc.integer({ min: 0, max: 40 }),
    toMore: fc.integer({ min: 0, max: 40 }),
    isFull: fc.boolean(),
  });
  fc.assert(
    fc.property(planes, ({ width, height, more, toMore, isFull }) => {
      const [stride, toStride] = [width + more, width + toMore];
      const bytes = Uint8Array.from({ length: stride * height }, (_, i) => (i * 131) >> 3);
      const rowsBytes = (height - 1) * toStride + width;
      const to = new Uint8Array(rowsBytes + 50).fill(77);
      writer.write({ width, height, bytes, stride, format: lumaFormat('yuv420p')!, isFull }, to, toStride);
      const table = expandedLuma(8);
      for (let y = 0; y < height; y++) {
        for (let x = 0; x < width; x++) {
          const luma = bytes[y * stride + x]!;
          if (to[y * toStride + x] !== (isFull ? luma : table[luma])) return false;
        }
      }
      return to.subarray(rowsBytes).every((value) => value === 77);
    }),
    { numRuns: 30 },
  );
});
