import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Counts, JobState, JobStatus } from '@halogrid/proto';
import { progressBar, progressLine } from './describe-progress.ts';

const job = (counts: Partial<Counts>, more: Partial<JobStatus> = {}): JobStatus =>
  JobStatus.fromPartial({ state: JobState.RUNNING, planned: true, nodes: 2, counts, ...more });
const speed = { pixelsPerSecond: 1.25e9, shardsPerSecond: 2 };

test('a line of a running job says how far it is, how fast, and how long it takes', () => {
  assert.equal(
    progressLine(job({ shards: 50, shardsDone: 31, quarantined: 1 }), speed),
    'running: 31 of 50 shards, 1.25 Gpx/s, about 10 s left, 2 nodes, 1 quarantined',
  );
});

test('while a job is being planned its end is not guessed', () => {
  assert.equal(
    progressLine(job({ shards: 50, shardsDone: 31 }, { planned: false }), speed),
    'running: 31 of 50+ shards, 1.25 Gpx/s, 2 nodes, 0 quarantined',
  );
});

test('a job without nodes says what it waits for', () => {
  assert.equal(
    progressLine(job({ shards: 3 }, { nodes: 0 }), { pixelsPerSecond: 0, shardsPerSecond: 0 }),
    'running: 0 of 3 shards, 0 px/s, waiting for a node, 0 quarantined',
  );
});

test('a job that no attached node can do says what it waits for', () => {
  const waiting = 'No attached node can read /data/archive';
  assert.equal(
    progressLine(job({ shards: 3, quarantined: 2 }, { nodes: 0, waiting }), { pixelsPerSecond: 0, shardsPerSecond: 0 }),
    'running: 0 of 3 shards, 0 px/s, 0 nodes, 2 quarantined, waiting: No attached node can read /data/archive',
  );
});

test('a job that writes its results says so', () => {
  const finalising = job({ shards: 3, shardsDone: 3 }, { state: JobState.FINALISING });
  assert.equal(progressLine(finalising, speed), 'finalising: 3 of 3 shards, writing the results');
});

test('the bar is filled as far as the job is', () => {
  const bar = (shardsDone: number): string => progressBar(job({ shards: 4, shardsDone }), speed, 200);
  assert.match(bar(0), /^░{24} {3}0 % {2}0 of 4 shards · /);
  assert.match(bar(2), /^█{12}░{12} {2}50 % {2}2 of 4 shards · /);
  assert.match(bar(4), /^█{24} 100 % {2}4 of 4 shards · /);
});

test('the bar never wraps', () => {
  assert.equal(progressBar(job({ shards: 4, shardsDone: 1 }), speed, 40).length, 40);
});
