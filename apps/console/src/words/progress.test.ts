import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Counts, JobState, JobStatus } from '@halogrid/proto';
import { describeShards, isListing, percentDone, secondsLeft } from './progress.js';

const job = (counts: Partial<Counts>, more: Partial<JobStatus> = {}): JobStatus =>
  JobStatus.fromPartial({ state: JobState.RUNNING, planned: true, counts, ...more });

test('progress is described, relative to the known shards while listing goes on', () => {
  const listing = { planned: false };
  const ended = { planned: false, state: JobState.CANCELLED };
  const table: [job: JobStatus, percent: number, shards: string][] = [
    [job({}, { planned: false, state: JobState.PENDING }), 0, 'listing…'],
    [job({ shards: 50, shardsDone: 31 }, listing), 62, 'listing…: 31 of at least 50 shards'],
    [job({ shards: 50, shardsDone: 50 }, listing), 99, 'listing…: 50 of at least 50 shards'],
    [job({ shards: 50, shardsDone: 31 }), 62, '31 of 50 shards'],
    [job({ shards: 1000, shardsDone: 999 }), 99, '999 of 1000 shards'],
    [job({ shards: 1, shardsDone: 1 }), 100, '1 of 1 shard'],
    [job({}), 100, '0 of 0 shards'],
    [job({ shards: 50, shardsDone: 31 }, ended), 62, '31 of 50 shards'],
  ];
  for (const [one, percent, shards] of table)
    assert.deepEqual([percentDone(one), describeShards(one)], [percent, shards]);
  assert.ok(isListing(job({}, listing)) && !isListing(job({}, ended)));
});

test('the time left is known only with a speed, a complete plan and open shards', () => {
  const counts = { shards: 50, shardsDone: 30 };
  assert.equal(secondsLeft(job(counts, { shardsPerSecond: 4 })), 5);
  for (const more of [
    {},
    { shardsPerSecond: 0 },
    { shardsPerSecond: 4, planned: false },
    { shardsPerSecond: 4, state: JobState.FAILED },
  ]) {
    assert.equal(secondsLeft(job(counts, more)), undefined);
  }
  assert.equal(secondsLeft(job({ shards: 50, shardsDone: 50 }, { shardsPerSecond: 4 })), undefined);
});
