import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AllNodeTotals, countShard } from './node-totals.ts';

test('a shard that is counted after its node has left counts for that node when it attaches again, and for no other node', () => {
  const all = new AllNodeTotals();
  const before = all.of('a');
  countShard(before, 35);
  all.of('b');
  countShard(before, 35);
  assert.deepEqual(all.of('a'), { shardsDone: 2, pixelsDone: 70 });
  assert.deepEqual(all.of('b'), { shardsDone: 0, pixelsDone: 0 });
});

test('if there are very many nodes, those that attached last are remembered', () => {
  const all = new AllNodeTotals();
  for (let number = 0; number <= 10_000; number++) countShard(all.of(`node-${number}`), 1);
  assert.equal(all.of('node-10000').shardsDone, 1);
  assert.equal(all.of('node-0').shardsDone, 0);
});
