import assert from 'node:assert/strict';
import { test } from 'node:test';
import { leaseLimit } from './lease-limit.ts';

/** The limits of a node that decodes one shard at a time, and of a node that decodes 16. */
const table: [fairShare: number, limit: number, of16: number][] = [
  [0, 1, 1],
  [0.1, 1, 1],
  [1, 1, 1],
  [1.2, 2, 2],
  [4, 4, 4],
  [8, 4, 8],
  [15.5, 8, 16],
  [20, 10, 16],
  [100, 50, 50],
  [20_000, 64, 64],
];

for (const [fairShare, limit, of16] of table) {
  test(`a node whose share of the open shards is ${fairShare} may hold ${limit}`, () => {
    const known = { isRateKnown: true, isOnProbation: false, isAlone: false, decoders: 1 };
    assert.equal(leaseLimit(fairShare, known), limit);
    assert.equal(leaseLimit(fairShare, { ...known, decoders: 16 }), of16);
    assert.equal(leaseLimit(fairShare, { ...known, isRateKnown: false }), Math.min(4, limit));
    assert.equal(leaseLimit(fairShare, { ...known, isRateKnown: false, decoders: 16 }), Math.min(16, limit));
    assert.equal(
      leaseLimit(fairShare, { ...known, isRateKnown: false, isAlone: true, decoders: 16 }),
      Math.min(16, of16),
    );
    assert.ok(leaseLimit(fairShare, { ...known, isRateKnown: false, decoders: 1000 }) <= 512);
    assert.equal(leaseLimit(fairShare, { ...known, isOnProbation: true }), 1);
  });
}

test('a node of 128 cores gets a segment for each core, and another one to continue with', () => {
  const known = { isRateKnown: true, isOnProbation: false, isAlone: true, decoders: 128 };
  assert.equal(leaseLimit(20_000, known), 256);
  assert.equal(leaseLimit(100, known), 100);
});
