import assert from 'node:assert/strict';
import { test } from 'node:test';
import { areaPath } from './area-path.js';

test('the greatest value touches the top, and the area is closed at the bottom', () => {
  assert.equal(areaPath([0, 5, 10], 100, 40), 'M0 40L0 40L50 20L100 0L100 40Z');
});

test('fewer than two values make no area; an area of zeros lies at the bottom', () => {
  assert.equal(areaPath([], 100, 40), '');
  assert.equal(areaPath([3], 100, 40), '');
  assert.equal(areaPath([0, 0], 100, 40), 'M0 40L0 40L100 40L100 40Z');
});
