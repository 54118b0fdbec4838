import assert from 'node:assert/strict';
import { test } from 'node:test';
import { leaseLimit } from './lease-limit.ts';

const table: [fairShare: number, limit: number][] = [
  [0, 1],
  [0.1, 1],
  [1, 1],
  [1.2, 2],
  [4, 4],
  [8, 4],
  [100, 50],
  [20_000, 64],
];

for (const [fairShare, limit] of table) {
  test(`a node whose share of the open shards is ${fairShare} may hold ${limit}`, () => {
    assert.equal(leaseLimit(fairShare, true, false), limit);
    assert.equal(leaseLimit(fairShare, false, false), Math.min(4, limit));
    assert.equal(leaseLimit(fairShare, true, true), 1);
  });
}
