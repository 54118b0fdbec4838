import {
  committed,
  type Event,
  job,
  joined,
  kept,
  lease,
  type SchedulerCase,
  shard,
  testCases,
} from './testing/scheduler-cases.ts';

const order = { jobId: 'job', epoch: 7 };
const lost: Event = {
  ...{ kind: 'ShardLost', ...order, open: { shard: kept(0), attempts: 0 }, planned: 1 },
  ...{ nodeIds: [], inVain: ['the coordinator'], isFalse: true, error: 'The part is gone' },
};
const done: Event[] = [...job('job', [kept(0)]), committed(0)];

const table: SchedulerCase[] = [
  {
    name: 'what is kept is read by the coordinator, and leased to no node',
    given: [joined(1), { kind: 'JobSubmitted', jobId: 'job' }],
    when: { kind: 'ShardsPlanned', jobId: 'job', shards: [kept(0), shard(1), kept(2)] },
    expected: ['keep job/0', 'keep job/2', 'lease job/1#1 to 1 (first)'],
  },
  {
    name: 'a job that only keeps something ends without a node',
    given: job('job', [kept(0), kept(1)]),
    when: committed(1),
    expected: [],
  },
  {
    name: 'once all of it is read',
    given: [...job('job', [kept(0), kept(1)]), committed(1)],
    when: committed(0),
    expected: ['finalise job'],
  },
  {
    name: 'not before what nodes compute is there',
    given: job('job', [kept(0), shard(1)]),
    when: committed(0),
    expected: [],
  },
  {
    name: 'what is kept of a job that goes on is read again where it was not written',
    given: [],
    when: { kind: 'JobResumed', ...order, planned: 4, open: [{ shard: kept(1), attempts: 0 }] },
    expected: ['keep job/1'],
  },
  { name: 'what is lost of it is read again', given: done, when: lost, expected: ['keep job/0'] },
  {
    name: 'and of nobody else',
    given: [joined(1), ...done, lost],
    when: { kind: 'ShardCompleted', session: 1, lease: lease(0), answer: { digest: 'right', bytes: 1 } },
    expected: ['duplicate job/0#1 of node-1'],
  },
];

testCases(table);
