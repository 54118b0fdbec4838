import {
  back,
  committed,
  completed,
  type Event,
  job,
  joined,
  lease,
  left,
  type SchedulerCase,
  shard,
  shards,
  testCases,
} from './testing/scheduler-cases.ts';

/** Two nodes; the first one has done the whole job. */
const done: Event[] = [joined(1), ...job('job', shards(1)), completed(1, lease(0)), committed(0), joined(2)];

const lost = (more: Partial<Extract<Event, { kind: 'ShardLost' }>> = {}): Event => ({
  kind: 'ShardLost',
  jobId: 'job',
  epoch: 7,
  open: { shard: shard(0), attempts: 1, withdrawn: 1 },
  planned: 1,
  kept: 0,
  nodeIds: ['node-1'],
  inVain: ['node-1'],
  isFalse: false,
  error: 'The part is gone',
  ...more,
});

const alone = done.slice(0, -1);

const table: SchedulerCase[] = [
  {
    name: 'an answer whose part is lost is not taken again from a node that brings it along',
    given: [...done, left(1), lost()],
    when: back(3, [lease(0)]),
    expected: [],
  },
  {
    name: 'a lost shard goes to another node, with its next attempt',
    given: done,
    when: lost(),
    expected: ['lease job/0#2 to 2 (lost)'],
  },
  {
    name: 'a lost shard goes to the same node if there is no other',
    given: alone,
    when: lost(),
    expected: ['lease job/0#2 to 1 (lost)'],
  },
  {
    name: 'nodes that had a lost shard in vain do not get it if there is another',
    given: [...done, joined(3)],
    when: lost({ inVain: ['node-1', 'node-2'] }),
    expected: ['lease job/0#2 to 3 (lost)'],
  },
  {
    name: 'a node whose part differs from its answer is sent away',
    given: done,
    when: lost({ isFalse: true }),
    expected: ['node-1 was wrong on job/0#1', 'drop 1 for good', 'lease job/0#2 to 2 (lost)'],
  },
  {
    name: 'a node whose part differs from its answer is sent away even if there is no other',
    given: alone,
    when: lost({ isFalse: true }),
    expected: ['node-1 was wrong on job/0#1', 'drop 1 for good'],
  },
  {
    name: 'a node whose part differed from its answer is sent away when it comes back',
    given: [...alone, lost({ isFalse: true })],
    when: joined(5, 1000, 'node-1'),
    expected: ['drop 5 for good'],
  },
  {
    name: 'if two nodes have the name of the writer, neither is sent away',
    given: [...done, joined(3)],
    when: lost({ isFalse: true, nodeIds: ['node-1', 'node-2'] }),
    expected: ['lease job/0#2 to 2 (lost)'],
  },
];

testCases(table);
