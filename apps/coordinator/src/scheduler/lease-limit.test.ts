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
    const known = { isRateKnown: true, isOnProbation: false, decoders: 1 };
    assert.equal(leaseLimit(fairShare, known), limit);
    assert.equal(leaseLimit(fairShare, { ...known, isRateKnown: false }), Math.min(4, limit));
    assert.equal(leaseLimit(fairShare, { ...known, isRateKnown: false, decoders: 16 }), Math.min(16, limit));
    assert.equal(leaseLimit(fairShare, { ...known, isRateKnown: false, decoders: 1000 }), Math.min(64, limit));
    assert.equal(leaseLimit(fairShare, { ...known, isOnProbation: true }), 1);
  });
}
