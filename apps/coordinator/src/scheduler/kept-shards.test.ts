import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  committed,
  completed,
  create,
  type Event,
  job,
  joined,
  kept,
  lease,
  type SchedulerCase,
  shard,
  shards,
  testCases,
  tick,
  words,
} from './testing/scheduler-cases.ts';

const order = { jobId: 'job', epoch: 7 };
const lost: Event = {
  kind: 'ShardLost',
  ...order,
  open: { shard: kept(0), attempts: 0 },
  planned: 1,
  kept: 1,
  nodeIds: [],
  inVain: ['the coordinator'],
  isFalse: true,
  error: 'The part is gone',
};
const done: Event[] = [...job('job', [kept(0)]), committed(0)];

const table: SchedulerCase[] = [
  {
    name: 'kept shards are read by the coordinator, and not leased to nodes',
    given: [joined(1), { kind: 'JobSubmitted', jobId: 'job' }],
    when: { kind: 'ShardsPlanned', jobId: 'job', shards: [kept(0), shard(1), kept(2)] },
    expected: ['keep job/0', 'keep job/2', 'lease job/1#1 to 1 (first)'],
  },
  {
    name: 'a job with only kept shards does not end before all are read',
    given: job('job', [kept(0), kept(1)]),
    when: committed(1),
    expected: [],
  },
  {
    name: 'a job with only kept shards ends once all are read, without a node',
    given: [...job('job', [kept(0), kept(1)]), committed(1)],
    when: committed(0),
    expected: ['finalise job'],
  },
  {
    name: 'a job does not end before the shards of nodes are done',
    given: job('job', [kept(0), shard(1)]),
    when: committed(0),
    expected: [],
  },
  {
    name: 'kept shards of a job that goes on are read again if they were not written',
    given: [],
    when: { kind: 'JobResumed', ...order, planned: 4, kept: 2, open: [{ shard: kept(1), attempts: 0 }] },
    expected: ['keep job/1'],
  },
  { name: 'a lost kept shard is read again', given: done, when: lost, expected: ['keep job/0'] },
  {
    name: 'an answer of a node to a lost kept shard is a duplicate',
    given: [joined(1), ...done, lost],
    when: { kind: 'ShardCompleted', session: 1, lease: lease(0), answer: { digest: 'right', bytes: 1 } },
    expected: ['duplicate job/0#1 of node-1'],
  },
];

testCases(table);

test('a kept shard does not count as queued, leased or done: these counts are of shards for nodes', () => {
  const scheduler = create();
  const after = (...events: Event[]) => {
    for (const event of events) scheduler.handle(event, 0);
    return scheduler.shards();
  };
  const begun = after(joined(1, 1), ...job('job', [kept(0), shard(1), kept(2), shard(3)]));
  assert.deepEqual(begun, { queued: 1, paused: 0, leased: 1, done: 0 });
  assert.deepEqual(after(committed(0)), begun);
  assert.deepEqual(after(completed(1, lease(1)), committed(1)), { queued: 0, paused: 0, leased: 1, done: 1 });
  assert.deepEqual(after({ ...lost, planned: 4, kept: 2 }, committed(2)), { queued: 0, paused: 0, leased: 1, done: 1 });
  const open = [kept(2), shard(3)].map((each) => ({ shard: each, attempts: 0 }));
  const goesOn: Event = { kind: 'JobResumed', jobId: 'other', planned: 4, kept: 2, open };
  assert.deepEqual(after(goesOn), { queued: 1, paused: 0, leased: 1, done: 2 });
});

test('a job with many kept sources is near its end only when its nodes are', () => {
  const scheduler = create();
  const keptOnes = Array.from({ length: 16 }, (_, number) => kept(number));
  const computed = shards(20).slice(16);
  const begin = [1, 2, 3, 4].map((session) => joined(session, 1));
  for (const event of [...begin, ...job('job', [...keptOnes, ...computed])]) scheduler.handle(event, 0);
  for (const { shard: number } of keptOnes) scheduler.handle(committed(number), 0);
  scheduler.handle(completed(1, lease(16)), 100);
  scheduler.handle(committed(16), 100);
  const told: string[] = [];
  for (let now = 200; now < 5000; now += 100) {
    for (const session of [1, 2, 3, 4]) scheduler.handle({ kind: 'NodeReported', session }, now);
    told.push(...scheduler.handle(tick, now).map(words));
  }
  assert.deepEqual(told, []);
});
