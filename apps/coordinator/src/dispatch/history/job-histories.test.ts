import assert from 'node:assert/strict';
import { test } from 'node:test';
import { JobHistories } from './job-histories.ts';

const merged = (node: string, leasedAtMs: number, mergedMs: number) => ({
  node,
  shard: 7,
  attempt: 1,
  leasedAtMs,
  answeredMs: mergedMs - 1,
  mergedMs,
  spans: [],
  pixels: 1_000,
  stageSeconds: { decode: 0.5, encode: 0 },
  mergeSeconds: 0.001,
});

test('a history shows how fast a job was, what it waited for, and when each node had shards', () => {
  const histories = new JobHistories();
  histories.begin('j', 10_000, 5_000_000);
  const history = histories.get('j')!;
  history.leased(250);
  history.merged(merged('b', 10_000, 12_000));
  history.merged(merged('a', 10_500, 11_000));
  const { sinceMs, elapsedMs, widthMs, pixelsPerSecond, stages, lanes } = histories.view('j', 13_000)!;
  assert.deepEqual(
    [sinceMs, elapsedMs, widthMs, pixelsPerSecond],
    [5_000_000, 3_000, 500, [0, 0, 2_000, 0, 2_000, 0, 0]],
  );
  assert.deepEqual(
    stages.map(({ stage, count }) => [stage, count]),
    [
      ['wait', 1],
      ['lease', 2],
      ['decode', 2],
      ['merge', 2],
    ],
  );
  assert.deepEqual(
    lanes.map(({ node, shards, held }) => [node, shards, held]),
    [
      ['a', 1, [0, 1, 0, 0, 0, 0, 0]],
      ['b', 1, [1, 1, 1, 1, 0, 0, 0]],
    ],
  );
});

test('nodes beyond a hundred have no lane, and an ended job keeps its history', () => {
  const histories = new JobHistories();
  histories.begin('j', 0, 0);
  for (let i = 0; i < 120; i++) histories.get('j')!.merged(merged(`n${i}`, 0, 1_000));
  assert.equal(histories.timeline('j', 1_500)!.shards.length, 120);
  histories.end('j', 2_000);
  const { sinceMs, nodes, shards, every } = histories.timeline('j', 9_000)!;
  assert.deepEqual([sinceMs, nodes.length, shards.length, every], [0, 120, 120, 1]);
  assert.equal(histories.get('j'), undefined);
  const { lanes, nodesWithoutLane, elapsedMs } = histories.view('j', 9_000)!;
  assert.deepEqual([lanes.length, nodesWithoutLane, elapsedMs], [100, 20, 2_000]);
  for (let i = 0; i < 100; i++) {
    histories.begin(`k${i}`, 0, 0);
    histories.end(`k${i}`, 1);
  }
  assert.equal(histories.view('j', 9_000), undefined);
  assert.equal(histories.timeline('j', 9_000), undefined);
});
