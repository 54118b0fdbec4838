import assert from 'node:assert/strict';
import { test } from 'node:test';
import { apart, appearanceOf, sharesOf } from './appearance.ts';

const shape = { rows: 1, columns: 2, bins: 2 };

test('cells are compared by their shares, and those without a pixel by nothing', () => {
  const a = sharesOf([3, 1, 5, 5], shape);
  const b = sharesOf([2, 6, 0, 0], shape);
  assert.deepEqual([...a, ...b], [0.75, 0.25, 0.5, 0.5, 0.25, 0.75, 0, 0]);
  assert.equal(apart(a, b, 0, 2), 0.5);
  assert.equal(apart(a, b, 1, 2), 0);
});

test('a change that passes within a quarter of the frames leaves no trace in their appearance', () => {
  const quiet = Float32Array.of(0.5, 0.5, 1, 0);
  const frames = Array.from({ length: 8 }, (_, i) => (i === 2 || i === 6 ? Float32Array.of(0, 1, 0, 1) : quiet));
  assert.deepEqual(appearanceOf(frames, shape), quiet);
});
