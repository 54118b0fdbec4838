import assert from 'node:assert/strict';
import { test } from 'node:test';
import { leaseLimit } from './placement.ts';

const table: [openShards: number, nodes: number, limit: number][] = [
  [0, 0, 4],
  [1, 1, 4],
  [100, 1, 50],
  [100, 5, 10],
  [100, 100, 4],
  [100_000, 5, 64],
];

for (const [openShards, nodes, limit] of table) {
  test(`with ${openShards} shards open, each of ${nodes} nodes may hold ${limit}`, () => {
    assert.equal(leaseLimit(openShards, nodes), limit);
  });
}
