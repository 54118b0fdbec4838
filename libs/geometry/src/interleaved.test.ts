import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { splitRgb, writeLuma } from './interleaved.ts';

test('black, white, the primaries and a tie that is rounded up', () => {
  const rgb = [0, 0, 0, 255, 255, 255, 255, 0, 0, 0, 255, 0, 0, 0, 255];
  const target = new Uint8Array(7).fill(77);
  writeLuma(Uint8Array.from([9, ...rgb]), 1, target, 1, 5);
  assert.deepEqual([...target], [77, 0, 255, 76, 150, 29, 77]);
});

test('luma is the BT.601 weights in 1/65536, rounded to nearest, for any colour', () => {
  for (const [type, most] of [
    [Uint8Array, 255],
    [Uint16Array, 65_535],
  ] as const) {
    const sample = fc.oneof(fc.nat(most), fc.constant(most));
    fc.assert(
      fc.property(sample, sample, sample, (r, g, b) => {
        const target = new type(1);
        writeLuma(type.of(r, g, b), 0, target, 0, 1);
        assert.equal(target[0], Math.floor((19595 * r + 38470 * g + 7471 * b) / 65536 + 0.5));
      }),
    );
  }
});

test('gray stays the same', () => {
  for (let value = 0; value < 65_536; value++) {
    const target = new Uint16Array(1);
    writeLuma(Uint16Array.of(value, value, value), 0, target, 0, 1);
    assert.equal(target[0], value);
  }
});

test('alpha is ignored', () => {
  const rgba = Uint8ClampedArray.of(9, 255, 0, 0, 0, 0, 0, 255, 128);
  const [gray, planes] = [new Uint8Array(3), new Uint8Array(7)];
  writeLuma(rgba, 1, gray, 1, 2, 4);
  assert.deepEqual([...gray], [0, 76, 29]);
  splitRgb(rgba, 1, planes, 1, 2, 2, 4);
  assert.deepEqual([...planes], [0, 255, 0, 0, 0, 0, 255]);
});
