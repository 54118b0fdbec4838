import assert from 'node:assert/strict';
import { test } from 'node:test';
import { grayValues, whiteOf } from './gray-values.js';

test('the last bin is white, and NaN is black', () => {
  assert.deepEqual(
    [...grayValues(Uint8Array.of(0, 9), whiteOf(new Uint8Array(0), 10))],
    [0, 0, 0, 255, 255, 255, 255, 255],
  );
  assert.deepEqual([...grayValues(Float32Array.of(Number.NaN), 1)], [0, 0, 0, 255]);
});

test('without bins the greatest sample is white', () => {
  assert.equal(whiteOf(Float32Array.of(0.5, Number.NaN, 2), 0), 2);
  assert.equal(whiteOf(Float32Array.of(0, Number.NaN), 0), 1);
});
