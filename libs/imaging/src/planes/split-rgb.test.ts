import assert from 'node:assert/strict';
import { test } from 'node:test';
import { splitRgb } from './split-rgb.ts';

test('six pixels, each byte another, from and to places that no word begins at', () => {
  const rgb = Uint8Array.from({ length: 20 }, (_, i) => 119 + i);
  const target = new Uint8Array(23).fill(77);
  splitRgb(rgb, 1, target, 3, 7, 6);
  const red = [120, 123, 126, 129, 132, 135];
  const green = [121, 124, 127, 130, 133, 136];
  const blue = [122, 125, 128, 131, 134, 137];
  assert.deepEqual([...target], [77, 77, 77, ...red, 77, ...green, 77, ...blue]);
});
