import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ShardTimes } from './shard-times.ts';

const spans = [
  { stage: 'shard', from: 0, to: 1.5 },
  { stage: 'decode', from: 0.25, to: 0.75 },
];
const merged = (shard: number) => {
  return { node: 'n', shard, attempt: 1, leased: shard, answered: shard + 2, merged: shard + 2.5, spans };
};

test("the view has the times of a shard; its node's work is in the middle between lease and answer", () => {
  const times = new ShardTimes();
  times.add(merged(4));
  times.add({ ...merged(5), node: 'other', spans: [] });
  assert.deepEqual(times.view(), {
    nodes: ['n', 'other'],
    shards: [
      { ...merged(4), node: 0, begun: 4.25 },
      { ...merged(5), node: 1, begun: 6, spans: [] },
    ],
    every: 1,
  });
});

test('if there are many shards, every second one is kept, from the first to the last', () => {
  for (const count of [8, 9, 16, 17, 40, 1000]) {
    const times = new ShardTimes(8);
    for (let shard = 0; shard < count; shard++) times.add(merged(shard));
    const { shards, every } = times.view();
    const kept = shards.map(({ shard }) => shard);
    const expected = Array.from({ length: Math.ceil(count / every) }, (_, i) => i * every);
    assert.deepEqual(kept, expected, `${count}`);
    assert.ok(kept.length <= 8 && kept.length >= Math.min(count, 4), `${count}: ${kept}`);
  }
});
