import assert from 'node:assert/strict';
import { test } from 'node:test';
import { groupsOf } from './neighbours.ts';

test('cells that touch by sides or corners are one group, and rows do not run on into the next', () => {
  // 0 . . 3
  // . 5 . .
  // 8 . . 11
  assert.deepEqual(groupsOf([0, 3, 5, 8, 11], { columns: 4 }), [[0, 5, 8], [3], [11]]);
  assert.deepEqual(groupsOf([3, 4], { columns: 4 }), [[3], [4]]);
});
