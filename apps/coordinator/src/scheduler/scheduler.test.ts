import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Shard } from '../shard.ts';
import type { Command } from './commands.ts';
import type { Comparable, LeaseId, SchedulerEvent } from './events.ts';
import { maxDeadNodes, maxLosses } from './is-poison.ts';
import { Scheduler } from './scheduler.ts';

type Event = SchedulerEvent<Comparable>;

const shard = (number: number, costBytes = 1): Shard => ({
  shard: number,
  work: { kind: 'frames', sources: [{ index: number, uri: `file:///frames/${number}.png` }] },
  costBytes,
});
const shards = (count: number, costBytes = 1): Shard[] => Array.from({ length: count }, (_, i) => shard(i, costBytes));

const joined = (session: number, creditBytes = 1000, nodeId = `node-${session}`): Event => ({
  kind: 'NodeJoined',
  session,
  nodeId,
  creditBytes,
});
/** A node that brings along leases of an earlier conversation. */
const back = (session: number, brought: LeaseId[], nodeId = 'node-1', isCheck = false): Event => ({
  kind: 'NodeJoined',
  session,
  nodeId,
  creditBytes: 1000,
  brought: brought.map((each) => ({ ...each, isCheck })),
});
const left = (session: number): Event => ({ kind: 'NodeLeft', session });
const job = (jobId: string, planned: Shard[]): Event[] => [
  { kind: 'JobSubmitted', jobId },
  { kind: 'ShardsPlanned', jobId, shards: planned },
  { kind: 'PlanEnded', jobId },
];
const tile = (number: number, uri: string): Shard => {
  const area = { size: { width: 9, height: 9 }, rect: { x: 0, y: 0, width: 9, height: 9 } };
  return { shard: number, work: { kind: 'tile', source: { index: 0, uri }, ...area }, costBytes: 1 };
};
/** A job of which every shard is checked. */
const checked = (count: number): Event[] => [
  { kind: 'JobSubmitted', jobId: 'job', verify: 100 },
  ...job('job', shards(count)).slice(1),
];
const lease = (number: number, attempt = 1, jobId = 'job', epoch = 7): LeaseId => ({
  jobId,
  shard: number,
  attempt,
  epoch,
});
const completed = (session: number, id: LeaseId, digest = 'right'): Event => ({
  kind: 'ShardCompleted',
  session,
  lease: id,
  answer: { digest, bytes: 1 },
});
const failed = (session: number, id: LeaseId): Event => ({
  kind: 'ShardFailed',
  session,
  lease: id,
  failure: { error: 'The device was lost', isOutput: false },
});
const notWritten = (session: number, id: LeaseId): Event => ({
  kind: 'ShardFailed',
  session,
  lease: id,
  failure: { error: 'The disk is full', isOutput: true },
});
const committed = (number: number, jobId = 'job'): Event => ({ kind: 'CommitFinished', jobId, shard: number });
const tick: Event = { kind: 'Tick' };

/** A command in a few words. */
function words(command: Command<Comparable>): string {
  switch (command.kind) {
    case 'AssignShard':
      return `lease ${command.lease.jobId}/${command.lease.shard}#${command.lease.attempt} to ${command.session} (${command.reason}${command.isCheck ? ', by the reference' : ''})`;
    case 'AdoptShard':
      return `adopt ${command.lease.jobId}/${command.lease.shard}#${command.lease.attempt} of ${command.session}${command.isCheck ? ', by the reference' : ''}`;
    case 'RecallShards':
      return `recall ${[command.jobId, ...command.shards].join('/')} from ${command.session}`;
    case 'DropNode':
      return `drop ${command.session}${command.isFinal ? ' for good' : command.lost ? ' as lost' : ''}`;
    case 'CommitShard':
      return `commit ${command.lease.jobId}/${command.lease.shard}#${command.lease.attempt} of ${command.session}`;
    case 'QuarantineShard':
      return `quarantine ${command.jobId}/${command.shard.shard} after ${command.attempts}: ${command.error}`;
    case 'FailJob':
      return `fail ${command.jobId}: ${command.error}`;
    case 'FinaliseJob':
      return `finalise ${command.jobId}`;
    case 'RecordMismatch':
      return `${command.nodeIds.join(', ')} differ on ${command.jobId}/${command.shard}`;
    case 'RecordWrongAnswer':
      return `${command.nodeId} was wrong on ${command.lease.jobId}/${command.lease.shard}#${command.lease.attempt}`;
    case 'RecordSetAside':
      return `${command.nodeId} set aside for ${command.forMs} ms: ${command.failures} of ${command.of} failed`;
    case 'RecordSetback':
      return `${command.setback} ${command.lease.jobId}/${command.lease.shard}#${command.lease.attempt} of ${command.nodeId}`;
  }
}

const create = (): Scheduler<Comparable> => new Scheduler({ epoch: 7, reportWithinMs: 1000, tickMs: 100 });

/** Feeds the events at time 0 and returns what the last of them commands. */
function lastCommands(events: Event[]): string[] {
  const scheduler = create();
  return events.map((event) => scheduler.handle(event, 0).map(words)).at(-1) ?? [];
}

/** A node that has computed something. */
const proven: Event[] = [joined(1, 1), ...job('before', shards(1)), completed(1, lease(0, 1, 'before'))];

/** A job that another coordinator began: of two shards, the second of which was leased twice. */
const resumed: Event = {
  kind: 'JobResumed',
  jobId: 'job',
  planned: 9,
  open: [
    { shard: shard(3), attempts: 0 },
    { shard: shard(5), attempts: 2 },
  ],
};

const table: { name: string; given: Event[]; when: Event; expected: string[] }[] = [
  {
    name: 'a node that joins is given what is queued',
    given: job('job', shards(2)),
    when: joined(1),
    expected: ['lease job/0#1 to 1 (first)', 'lease job/1#1 to 1 (first)'],
  },
  {
    name: 'shards that are planned go to the nodes in turn',
    given: [joined(1), joined(2), { kind: 'JobSubmitted', jobId: 'job' }],
    when: { kind: 'ShardsPlanned', jobId: 'job', shards: shards(3) },
    expected: ['lease job/0#1 to 1 (first)', 'lease job/1#1 to 2 (first)', 'lease job/2#1 to 1 (first)'],
  },
  {
    name: 'of a job that goes on, shards that were leased before wait for their nodes',
    given: [joined(1)],
    when: resumed,
    expected: ['lease job/3#1 to 1 (first)'],
  },
  {
    name: 'what a node brings along of a job that goes on is adopted under the new epoch, with its attempt',
    given: [resumed],
    when: back(1, [lease(5, 2, 'job', 6)]),
    expected: ['adopt job/5#2 of 1', 'lease job/3#1 to 1 (first)'],
  },
  {
    name: 'a lease that had not come to the ledger is adopted, too',
    given: [resumed],
    when: back(1, [lease(3, 1, 'job', 6)]),
    expected: ['adopt job/3#1 of 1'],
  },
  {
    name: 'the answer to an adopted lease is committed under the new epoch',
    given: [resumed, back(1, [lease(5, 2, 'job', 6)])],
    when: completed(1, lease(5, 2)),
    expected: ['commit job/5#2 of 1'],
  },
  {
    name: 'an answer under the old epoch is not',
    given: [resumed, back(1, [lease(5, 2, 'job', 6)])],
    when: completed(1, lease(5, 2, 'job', 6)),
    expected: ['stale job/5#2 of node-1'],
  },
  {
    name: 'a node that dials again before its break was noticed keeps its leases',
    given: [...job('job', shards(1)), joined(1)],
    when: back(2, [lease(0)]),
    expected: ['lost job/0#1 of node-1', 'drop 1', 'adopt job/0#1 of 2'],
  },
  {
    name: 'a shard that another has been given meanwhile goes on at both',
    given: [...job('job', shards(1)), joined(1), joined(2), left(1)],
    when: back(3, [lease(0)]),
    expected: ['adopt job/0#1 of 3'],
  },
  {
    name: 'of those the first answer counts',
    given: [...job('job', shards(1)), joined(1), joined(2), left(1), back(3, [lease(0)])],
    when: completed(3, lease(0)),
    expected: ['recall job/0 from 2', 'commit job/0#1 of 3'],
  },
  {
    name: 'what is done is not adopted',
    given: [...job('job', shards(2)), joined(1), joined(2), left(1), completed(2, lease(0, 2)), committed(0)],
    when: back(3, [lease(0)]),
    expected: [],
  },
  {
    name: 'what is being written is not adopted',
    given: [...job('job', shards(1)), joined(1), joined(2), left(1), completed(2, lease(0, 2))],
    when: back(3, [lease(0)]),
    expected: [],
  },
  {
    name: 'what a device found does not stand in for the reference',
    given: [...checked(1), joined(1), joined(2), left(1), completed(2, lease(0, 2))],
    when: back(3, [lease(0)]),
    expected: [],
  },
  {
    name: 'a check that was under way goes on',
    given: [...checked(1), joined(2), completed(2, lease(0)), joined(1), left(2), left(1)],
    when: back(3, [lease(0, 2)], 'node-2', true),
    expected: ['adopt job/0#2 of 3, by the reference'],
  },
  {
    name: 'leases of a later epoch, of no job and of no shard are not adopted',
    given: [joined(2, 0), ...job('job', shards(1, 1))],
    when: back(1, [lease(0, 1, 'job', 8), lease(0, 1, 'other'), lease(9)]),
    expected: [],
  },
  {
    name: 'a lease that is named twice is adopted once',
    given: [resumed],
    when: back(1, [lease(5, 2, 'job', 6), lease(5, 2, 'job', 6)]),
    expected: ['adopt job/5#2 of 1', 'lease job/3#1 to 1 (first)'],
  },
  {
    name: 'an adopted lease that is handed back frees the number of its attempt only where nobody else has the shard',
    given: [...job('job', shards(1)), joined(1), joined(2), left(1), back(3, [lease(0)])],
    when: { kind: 'ShardReturned', session: 3, lease: lease(0) },
    expected: [],
  },
  {
    name: 'a job that goes on with every shard done is finalised when its plan ends',
    given: [joined(1), { kind: 'JobResumed', jobId: 'job', planned: 9, open: [] }],
    when: { kind: 'PlanEnded', jobId: 'job' },
    expected: ['finalise job'],
  },
  {
    name: 'jobs share a node in turn',
    given: [...job('a', shards(3)), ...job('b', shards(3))],
    when: joined(1, 3),
    expected: ['lease a/0#1 to 1 (first)', 'lease b/0#1 to 1 (first)', 'lease a/1#1 to 1 (first)'],
  },
  {
    name: 'the cost of leases stays within the credit',
    given: job('job', shards(3, 40)),
    when: joined(1, 100),
    expected: ['lease job/0#1 to 1 (first)', 'lease job/1#1 to 1 (first)'],
  },
  {
    name: 'a shard above the credit is leased alone',
    given: job('job', shards(2, 400)),
    when: joined(1, 100),
    expected: ['lease job/0#1 to 1 (first)'],
  },
  {
    name: 'a small shard does not pass a large one that waits for credit',
    given: job('job', [shard(0, 60), shard(1, 60), shard(2, 1)]),
    when: joined(1, 100),
    expected: ['lease job/0#1 to 1 (first)'],
  },
  {
    name: 'an answer is committed and makes room for the next lease',
    given: [joined(1, 100), ...job('job', shards(3, 100))],
    when: completed(1, lease(0)),
    expected: ['commit job/0#1 of 1', 'lease job/1#1 to 1 (first)'],
  },
  {
    name: 'a failed shard goes to another node, before fresh ones',
    given: [joined(1, 1), joined(2, 1), ...job('job', shards(5)), failed(1, lease(0))],
    when: completed(2, lease(1)),
    expected: ['commit job/1#1 of 2', 'lease job/0#2 to 2 (failed)'],
  },
  {
    name: 'a failed shard waits for the other node rather than return to the one that failed it',
    given: [joined(1, 1), joined(2, 1), ...job('job', shards(2))],
    when: failed(1, lease(0)),
    expected: ['failed job/0#1 of node-1'],
  },
  {
    name: 'a failed shard returns to the node that failed it when there is no other',
    given: [...proven, ...job('job', shards(1))],
    when: failed(1, lease(0)),
    expected: ['failed job/0#1 of node-1', 'lease job/0#2 to 1 (failed)'],
  },
  {
    name: 'but not at once where that has computed nothing yet: another may come',
    given: [joined(1), ...job('job', shards(1))],
    when: failed(1, lease(0)),
    expected: ['failed job/0#1 of node-1'],
  },
  {
    name: 'a failed shard returns to the node that failed it when the other drains',
    given: [joined(1, 1), joined(2, 1), ...job('job', shards(2)), failed(1, lease(0))],
    when: { kind: 'NodeDraining', session: 2 },
    expected: ['lease job/0#2 to 1 (failed)'],
  },
  {
    name: 'a shard that failed three times is quarantined with its last error',
    given: [...proven, ...job('job', shards(1)), failed(1, lease(0)), failed(1, lease(0, 2))],
    when: failed(1, lease(0, 3)),
    expected: ['quarantine job/0 after 3: The device was lost'],
  },
  {
    name: 'results that cannot be written are tried again like any other failure',
    given: [joined(1, 1), joined(2, 1), ...job('job', shards(2))],
    when: notWritten(1, lease(0)),
    expected: ['failed job/0#1 of node-1'],
  },
  {
    name: 'results that cannot be written three times fail the job, because the sources are not at fault',
    given: [joined(1), ...job('job', shards(1)), notWritten(1, lease(0)), notWritten(1, lease(0, 2))],
    when: notWritten(1, lease(0, 3)),
    expected: ['fail job: The disk is full'],
  },
  {
    name: 'an answer that the ledger rejects is a failure of its node',
    given: [joined(1), joined(2), ...job('job', shards(1)), completed(1, lease(0))],
    when: { kind: 'CommitRejected', lease: lease(0), error: 'The bins do not add up' },
    expected: ['failed job/0#1 of node-1', 'lease job/0#2 to 2 (failed)'],
  },
  {
    name: 'a draining node is given nothing',
    given: [joined(1, 2), ...job('job', shards(3)), { kind: 'NodeDraining', session: 1 }],
    when: completed(1, lease(0)),
    expected: ['commit job/0#1 of 1'],
  },
  {
    name: 'the leases of a node that left go to another',
    given: [joined(1), ...job('job', shards(2)), joined(2)],
    when: left(1),
    expected: [
      'lost job/0#1 of node-1',
      'lost job/1#1 of node-1',
      'lease job/0#2 to 2 (lost)',
      'lease job/1#2 to 2 (lost)',
    ],
  },
  {
    name: 'a node that attaches anew replaces its older self and starts without leases',
    given: [joined(1, 100, 'same'), ...job('job', shards(1))],
    when: joined(2, 100, 'same'),
    expected: ['lost job/0#1 of same', 'drop 1', 'lease job/0#2 to 2 (lost)'],
  },
  {
    name: 'what a replaced conversation still says is ignored',
    given: [joined(1, 100, 'same'), ...job('job', shards(1)), joined(2, 100, 'same')],
    when: completed(1, lease(0)),
    expected: [],
  },
  {
    name: 'the end of a replaced conversation takes nothing from the new one',
    given: [joined(1, 100, 'same'), ...job('job', shards(1)), joined(2, 100, 'same')],
    when: left(1),
    expected: [],
  },
  {
    name: 'an answer that comes twice counts once',
    given: [joined(1), ...job('job', shards(2)), completed(1, lease(0))],
    when: completed(1, lease(0)),
    expected: ['duplicate job/0#1 of node-1'],
  },
  {
    name: 'an answer for a shard that is committed is a duplicate',
    given: [joined(1), ...job('job', shards(2)), completed(1, lease(0)), committed(0)],
    when: failed(1, lease(0)),
    expected: ['duplicate job/0#1 of node-1'],
  },
  {
    name: 'an answer of an older attempt is stale',
    given: [joined(1), ...job('job', shards(1)), failed(1, lease(0))],
    when: completed(1, lease(0)),
    expected: ['stale job/0#1 of node-1'],
  },
  {
    name: 'an answer of an older epoch is stale',
    given: [joined(1), ...job('job', shards(1))],
    when: completed(1, lease(0, 1, 'job', 6)),
    expected: ['stale job/0#1 of node-1'],
  },
  {
    name: "an answer to another node's lease is stale",
    given: [joined(1), ...job('job', shards(1)), joined(2)],
    when: completed(2, lease(0)),
    expected: ['stale job/0#1 of node-2'],
  },
  {
    name: 'an answer for an unknown job is stale',
    given: [joined(1)],
    when: completed(1, lease(0, 1, 'other')),
    expected: ['stale other/0#1 of node-1'],
  },
  {
    name: 'an abandoned job is recalled from the nodes that hold it, which go on with others',
    given: [joined(1, 1), ...job('a', shards(2)), ...job('b', shards(1))],
    when: { kind: 'JobAbandoned', jobId: 'a' },
    expected: ['recall a from 1', 'lease b/0#1 to 1 (first)'],
  },
  {
    name: 'shards planned for an abandoned job are not leased',
    given: [joined(1), { kind: 'JobSubmitted', jobId: 'job' }, { kind: 'JobAbandoned', jobId: 'job' }],
    when: { kind: 'ShardsPlanned', jobId: 'job', shards: shards(1) },
    expected: [],
  },
  {
    name: 'a job is finalised when its last shard is committed',
    given: [joined(1), ...job('job', shards(2)), completed(1, lease(0)), completed(1, lease(1)), committed(1)],
    when: committed(0),
    expected: ['finalise job'],
  },
  {
    name: 'a job is not finalised before its plan has ended',
    given: [
      joined(1),
      { kind: 'JobSubmitted', jobId: 'job' },
      { kind: 'ShardsPlanned', jobId: 'job', shards: shards(1) },
      completed(1, lease(0)),
    ],
    when: committed(0),
    expected: [],
  },
  {
    name: 'a job without a usable source is finalised when its plan has ended',
    given: [{ kind: 'JobSubmitted', jobId: 'job' }],
    when: { kind: 'PlanEnded', jobId: 'job' },
    expected: ['finalise job'],
  },
  {
    name: 'a job of a higher priority goes first',
    given: [...job('a', shards(2)), { kind: 'JobSubmitted', jobId: 'b', priority: 1 }, ...job('b', shards(2)).slice(1)],
    when: joined(1, 3),
    expected: ['lease b/0#1 to 1 (first)', 'lease b/1#1 to 1 (first)', 'lease a/0#1 to 1 (first)'],
  },
  {
    name: 'jobs of equal priority hold equally many bytes',
    given: [...job('a', shards(3, 20)), ...job('b', shards(9, 10))],
    when: joined(1, 60),
    expected: [
      'lease a/0#1 to 1 (first)',
      'lease b/0#1 to 1 (first)',
      'lease b/1#1 to 1 (first)',
      'lease a/1#1 to 1 (first)',
    ],
  },
  {
    name: 'nodes keep to the images they have open',
    given: [
      joined(1, 1),
      joined(2, 1),
      ...job('job', [tile(0, 'a'), tile(1, 'a'), tile(2, 'a'), tile(3, 'b'), tile(4, 'b')]),
    ],
    when: completed(2, lease(3)),
    expected: ['commit job/3#1 of 2', 'lease job/4#1 to 2 (first)'],
  },
  {
    name: 'what a stopping node hands back goes to another as the same attempt',
    given: [joined(1, 1), ...job('job', shards(1)), joined(2, 1), { kind: 'NodeDraining', session: 1 }],
    when: { kind: 'ShardReturned', session: 1, lease: lease(0) },
    expected: ['lease job/0#1 to 2 (lost)'],
  },
  {
    name: 'a shard is poison only when a second node has failed it, where there is one',
    given: [...proven, ...job('job', shards(1)), failed(1, lease(0)), failed(1, lease(0, 2)), joined(2, 1)],
    when: failed(1, lease(0, 3)),
    expected: ['failed job/0#3 of node-1', 'lease job/0#4 to 2 (failed)'],
  },
  {
    name: 'a sampled shard is not believed before the reference has spoken',
    given: [joined(1, 1), ...checked(1)],
    when: completed(1, lease(0)),
    expected: ['lease job/0#2 to 1 (check, by the reference)'],
  },
  {
    name: 'the reference of another node is preferred',
    given: [joined(1, 1), ...checked(1), joined(2, 1)],
    when: completed(1, lease(0)),
    expected: ['lease job/0#2 to 2 (check, by the reference)'],
  },
  {
    name: 'what the reference confirms is committed as it was first given',
    given: [joined(1, 1), ...checked(1), completed(1, lease(0))],
    when: completed(1, lease(0, 2)),
    expected: ['commit job/0#1 of 1'],
  },
  {
    name: 'of two answers that differ none is believed',
    given: [joined(1, 1), ...checked(1), joined(2, 1), joined(3, 1), completed(1, lease(0), 'wrong')],
    when: completed(2, lease(0, 2)),
    expected: ['node-1, node-2 differ on job/0', 'lease job/0#3 to 3 (check, by the reference)'],
  },
  {
    name: 'a node that two contradict is sent away for good, and its work is done again',
    given: [
      ...[joined(1, 2), ...checked(2), joined(2, 1), joined(3, 1)],
      ...[completed(1, lease(0), 'wrong'), completed(2, lease(0, 2))],
    ],
    when: completed(3, lease(0, 3)),
    expected: [
      'node-1 was wrong on job/0#1',
      'lost job/1#1 of node-1',
      'drop 1 for good',
      'lease job/1#2 to 2 (lost)',
      'lease job/0#4 to 3 (check)',
    ],
  },
  {
    name: 'what the reference alone has found is computed again by a device, whose chunks overwrite the wrong ones',
    given: [
      ...[joined(1, 1), ...checked(1), joined(2, 1), joined(3, 1), completed(1, lease(0), 'wrong')],
      ...[completed(2, lease(0, 2)), completed(3, lease(0, 3))],
    ],
    when: completed(2, lease(0, 4)),
    expected: ['commit job/0#4 of 2'],
  },
  {
    name: 'a node that was wrong is not taken again under the same id',
    given: [
      ...[joined(1, 1), ...checked(1), completed(1, lease(0), 'wrong')],
      ...[completed(1, lease(0, 2)), completed(1, lease(0, 3))],
    ],
    when: joined(2, 1, 'node-1'),
    expected: ['drop 2 for good'],
  },
  {
    name: 'a job is finalised once',
    given: [...job('job', [])],
    when: { kind: 'PlanEnded', jobId: 'job' },
    expected: [],
  },
];

for (const { name, given, when, expected } of table) {
  test(name, () => assert.deepEqual(lastCommands([...given, when]), expected));
}

test('a node that is silent past its deadline is dropped and its shards are leased to others', () => {
  const scheduler = create();
  scheduler.handle(joined(1, 1), 0);
  for (const event of job('job', shards(1))) scheduler.handle(event, 0);
  for (let now = 100; now <= 1000; now += 100) assert.deepEqual(scheduler.handle(tick, now), []);
  scheduler.handle(joined(2, 1), 1000);
  assert.deepEqual(scheduler.handle(tick, 1100).map(words), [
    'lost job/0#1 of node-1',
    'drop 1 as lost',
    'lease job/0#2 to 2 (lost)',
  ]);
  assert.equal(scheduler.node(1), undefined);
});

test('every word of a node puts off its deadline, and so does every order to it', () => {
  const scheduler = create();
  scheduler.handle(joined(1, 1), 0);
  scheduler.handle({ kind: 'NodeReported', session: 1 }, 900);
  for (const event of job('job', shards(1))) scheduler.handle(event, 1800);
  for (let now = 100; now <= 2800; now += 100) assert.deepEqual(scheduler.handle(tick, now), []);
  assert.deepEqual(scheduler.handle(tick, 2900).map(words), ['lost job/0#1 of node-1', 'drop 1 as lost']);
});

test('nodes are not blamed for silence while this process itself did not run', () => {
  const scheduler = create();
  scheduler.handle(joined(1), 0);
  scheduler.handle(tick, 100);
  assert.deepEqual(scheduler.handle(tick, 60_000), []);
  assert.deepEqual(scheduler.handle(tick, 60_100), []);
});

/** Lets nodes of these ids take the only shard and break; returns the commands of the last loss. */
function loseNodes(nodeIds: string[]): string[] {
  const scheduler = create();
  for (const event of job('job', shards(1))) scheduler.handle(event, 0);
  return nodeIds
    .map((nodeId, session) => {
      // After two losses it is leased again only when nodes that lost their connection alone have come back.
      const now = session * 1000;
      scheduler.handle(joined(session, 1, nodeId), now);
      return scheduler.handle(left(session), now).map(words);
    })
    .at(-1)!;
}

test('a shard that kills three nodes is quarantined', () => {
  const nodeIds = Array.from({ length: maxDeadNodes }, (_, i) => `node-${i}`);
  assert.deepEqual(loseNodes(nodeIds), [
    'lost job/0#3 of node-2',
    'quarantine job/0 after 3: Its node was lost 3 times while it held the shard, the last was node-2',
  ]);
});

test('a shard is not blamed for connections that break while their nodes live on', () => {
  const scheduler = create();
  for (let session = 0; session < 3; session++) scheduler.handle(joined(session, 1), 0);
  for (const event of job('job', shards(1))) scheduler.handle(event, 0);
  // The shard moves from a node whose connection breaks to the next, and each comes back.
  for (let session = 0; session < 6; session++) {
    const now = session * 1000;
    const commands = scheduler.handle(left(session), now).map(words);
    assert.ok(!commands.some((command) => command.startsWith('quarantine')), commands.join());
    scheduler.handle(joined(session + 3, 1, `node-${session % 3}`), now);
  }
});

test('a shard is given up when its nodes are lost again and again, even if they come back', () => {
  const last = loseNodes(Array.from({ length: maxLosses }, () => 'restarted-under-its-name'));
  assert.match(last[1]!, /^quarantine job\/0 after 10/);
  assert.equal(loseNodes(Array.from({ length: maxLosses - 1 }, () => 'restarted-under-its-name')).length, 1);
});

test('a node that leaves while it drains is not counted against its shards', () => {
  const scheduler = create();
  for (const event of job('job', shards(1))) scheduler.handle(event, 0);
  for (let session = 0; session < 2 * maxLosses; session++) {
    scheduler.handle(joined(session, 1), 0);
    scheduler.handle({ kind: 'NodeDraining', session }, 0);
    assert.deepEqual(scheduler.handle(left(session), 0).map(words), [`lost job/0#${session + 1} of node-${session}`]);
  }
  assert.equal(scheduler.queued('job').shards, 1);
});

test('a shard over which two nodes were lost waits, and is then leased to a node that holds no other', () => {
  const scheduler = create();
  for (const event of job('job', shards(3))) scheduler.handle(event, 0);
  for (const session of [1, 2]) {
    scheduler.handle(joined(session), 0);
    scheduler.handle(left(session), 0);
  }
  assert.deepEqual(scheduler.handle(joined(3), 999).map(words), []);
  scheduler.handle({ kind: 'NodeReported', session: 3 }, 1000);
  assert.deepEqual(scheduler.handle(tick, 1000).map(words), ['lease job/0#3 to 3 (lost)']);
  assert.deepEqual(scheduler.handle(completed(3, lease(0, 3)), 1000).map(words), [
    'commit job/0#3 of 3',
    'lease job/1#3 to 3 (lost)',
  ]);
});

test('a node that fails what others compute is set aside for a while, longer each time, and blames no shard', () => {
  const scheduler = create();
  scheduler.handle(joined(1, 1), 0);
  for (const event of job('job', shards(100))) scheduler.handle(event, 0);
  scheduler.handle(completed(1, lease(0)), 0);
  const badSession = (session: number, now: number): string[] => {
    const told: string[] = [];
    let commands = scheduler.handle({ kind: 'NodeJoined', session, nodeId: 'bad', creditBytes: 1 }, now);
    for (;;) {
      told.push(...commands.map(words).filter((text) => text.includes('aside')));
      const given = commands.find((command) => command.kind === 'AssignShard' && command.session === session);
      if (given?.kind !== 'AssignShard') return told;
      commands = scheduler.handle(failed(session, given.lease), now);
    }
  };
  assert.deepEqual(badSession(2, 0), ['bad set aside for 30000 ms: 5 of 5 failed']);
  assert.deepEqual(badSession(3, 29_999), []);
  assert.deepEqual(badSession(4, 30_000), ['bad set aside for 60000 ms: 5 of 5 failed']);
});

test('a device that is lost over a shard is not held against the shard the first time', () => {
  const scheduler = create();
  for (const event of [...proven, ...job('job', shards(1))]) scheduler.handle(event, 0);
  const lost = (attempt: number): string[] => {
    const failure = { error: 'Out of memory', isOutput: false, isDevice: true };
    return scheduler.handle({ kind: 'ShardFailed', session: 1, lease: lease(0, attempt), failure }, 0).map(words);
  };
  for (const attempt of [1, 2, 3]) assert.match(lost(attempt).at(-1)!, /^lease/);
  assert.deepEqual(lost(4), ['quarantine job/0 after 4: Out of memory']);
});

/** A job of 20 shards, of which the last has been leased to node 1 for so long that node 2 has it as well, at 5000 ms. */
function copyStraggler(): { scheduler: Scheduler<Comparable>; told: string[] } {
  const scheduler = create();
  const told: string[] = [];
  const advance = (from: number, to: number): void => {
    for (let now = from; now <= to; now += 100) {
      for (const session of [1, 2]) scheduler.handle({ kind: 'NodeReported', session }, now);
      told.push(...scheduler.handle(tick, now).map((command) => `${now}: ${words(command)}`));
    }
  };
  for (const event of [joined(1, 1), ...job('job', shards(20))]) scheduler.handle(event, 0);
  for (let number = 0; number < 19; number++) {
    scheduler.handle(completed(1, lease(number)), 100 * (number + 1));
    scheduler.handle(committed(number), 100 * (number + 1));
  }
  scheduler.handle(joined(2, 1), 1900);
  advance(2000, 5000);
  return { scheduler, told };
}

test('a shard that takes too long near the end is leased to an idle node too; the first answer counts', () => {
  const { scheduler, told } = copyStraggler();
  assert.deepEqual(told, ['3000: lease job/19#2 to 2 (straggler)']);
  const answer = scheduler.handle(completed(2, lease(19, 2)), 5000).map(words);
  assert.deepEqual(answer, ['recall job/19 from 1', 'commit job/19#2 of 2']);
  assert.deepEqual(scheduler.handle(completed(1, lease(19)), 5000).map(words), ['duplicate job/19#1 of node-1']);
  assert.deepEqual(scheduler.handle(committed(19), 5000).map(words), ['finalise job']);
});

test('a late answer that contradicts what was committed has the reference decide, before the job ends', () => {
  const contested = (referenceSays: string): string[] => {
    const { scheduler } = copyStraggler();
    const at = (event: Event): string[] => scheduler.handle(event, 5000).map(words);
    at(joined(3, 1));
    at(completed(2, lease(19, 2)));
    assert.deepEqual(at(completed(1, lease(19), 'other')), [
      'node-2, node-1 differ on job/19',
      'duplicate job/19#1 of node-1',
    ]);
    assert.deepEqual(at(committed(19)), ['lease job/19#3 to 3 (check, by the reference)']);
    return at(completed(3, lease(19, 3), referenceSays));
  };
  assert.deepEqual(contested('right'), ['node-1 was wrong on job/19#1', 'drop 1 for good', 'finalise job']);
  const wrong = contested('other');
  const failed = wrong.pop();
  assert.match(failed!, /^fail job: Shard 19 was merged as node-2 had computed it, and the reference says otherwise/);
  assert.deepEqual(wrong, ['node-2 was wrong on job/19#2', 'drop 2 for good']);
});

test('what it reports adds up: queued, leased and done shards, bytes', () => {
  const scheduler = create();
  scheduler.handle(joined(1, 20), 0);
  scheduler.handle(joined(2, 20), 0);
  for (const event of job('job', shards(10, 10))) scheduler.handle(event, 0);
  assert.deepEqual(scheduler.shards(), { queued: 6, leased: 4, done: 0 });
  assert.deepEqual(scheduler.node(1), { leases: 2, leasedBytes: 20, isDraining: false });
  assert.equal(scheduler.queued('job').shards, 6);
  scheduler.handle(completed(1, lease(0)), 0);
  scheduler.handle(committed(0), 0);
  scheduler.handle(left(2), 0);
  assert.deepEqual(scheduler.shards(), { queued: 7, leased: 2, done: 1 });
});

test('the command to lease says how long the shard was queued', () => {
  const scheduler = create();
  for (const event of job('job', shards(1))) scheduler.handle(event, 1000);
  const [command] = scheduler.handle(joined(1), 1250);
  assert.equal(command?.kind === 'AssignShard' && command.waitedMs, 250);
});

test('a node that is alone and fails everything is waited out, and then its jobs fail; no shard is blamed', () => {
  const scheduler = create();
  const told: string[] = [];
  const held: LeaseId[] = [];
  const handle = (event: Event, now: number): void => {
    for (const command of scheduler.handle(event, now)) {
      if (command.kind === 'AssignShard') held.push(command.lease);
      else if (command.kind !== 'RecordSetback') told.push(words(command));
    }
  };
  for (const event of [joined(1), ...job('job', shards(3))]) handle(event, 0);
  for (let now = 0; now < 200_000 && !told.at(-1)?.startsWith('fail'); now += 100) {
    for (const id of held.splice(0)) handle(failed(1, id), now);
    handle({ kind: 'NodeReported', session: 1 }, now);
    handle(tick, now);
  }
  assert.deepEqual(told.slice(0, 2), [
    'node-1 set aside for 30000 ms: 5 of 5 failed',
    'node-1 set aside for 60000 ms: 5 of 5 failed',
  ]);
  assert.match(told.join(), /fail job: Node node-1, the only one there is, failed every shard that it was given/);
  assert.doesNotMatch(told.join(), /quarantine/);
});
