import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Shard } from '../shard.ts';
import type { Command } from './commands.ts';
import type { LeaseId, SchedulerEvent } from './events.ts';
import { maxDeadNodes, maxLosses } from './leases.ts';
import { Scheduler } from './scheduler.ts';

type Event = SchedulerEvent<string>;

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
const left = (session: number): Event => ({ kind: 'NodeLeft', session });
const job = (jobId: string, planned: Shard[]): Event[] => [
  { kind: 'JobSubmitted', jobId },
  { kind: 'ShardsPlanned', jobId, shards: planned },
  { kind: 'PlanEnded', jobId },
];
const lease = (number: number, attempt = 1, jobId = 'job', epoch = 7): LeaseId => ({
  jobId,
  shard: number,
  attempt,
  epoch,
});
const completed = (session: number, id: LeaseId): Event => ({
  kind: 'ShardCompleted',
  session,
  lease: id,
  answer: 'done',
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
function words(command: Command<string>): string {
  switch (command.kind) {
    case 'AssignShard':
      return `lease ${command.lease.jobId}/${command.lease.shard}#${command.lease.attempt} to ${command.session} (${command.reason})`;
    case 'RecallShards':
      return `recall ${command.jobId} from ${command.session}`;
    case 'DropNode':
      return `drop ${command.session}${command.lost ? ' as lost' : ''}`;
    case 'CommitShard':
      return `commit ${command.lease.jobId}/${command.lease.shard}#${command.lease.attempt} of ${command.session}`;
    case 'QuarantineShard':
      return `quarantine ${command.jobId}/${command.shard.shard} after ${command.attempts}: ${command.error}`;
    case 'FailJob':
      return `fail ${command.jobId}: ${command.error}`;
    case 'FinaliseJob':
      return `finalise ${command.jobId}`;
    case 'RecordSetback':
      return `${command.setback} ${command.lease.jobId}/${command.lease.shard}#${command.lease.attempt} of ${command.nodeId}`;
  }
}

const create = (): Scheduler<string> => new Scheduler({ epoch: 7, reportWithinMs: 1000, tickMs: 100 });

/** Feeds the events at time 0 and returns what the last of them commands. */
function lastCommands(events: Event[]): string[] {
  const scheduler = create();
  return events.map((event) => scheduler.handle(event, 0).map(words)).at(-1) ?? [];
}

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
    name: 'of a job that goes on, shards that were leased before go first, with the next attempt',
    given: [joined(1)],
    when: {
      kind: 'JobResumed',
      jobId: 'job',
      planned: 9,
      open: [
        { shard: shard(3), attempts: 0 },
        { shard: shard(5), attempts: 2 },
      ],
    },
    expected: ['lease job/5#3 to 1 (lost)', 'lease job/3#1 to 1 (first)'],
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
    given: [joined(1), ...job('job', shards(1))],
    when: failed(1, lease(0)),
    expected: ['failed job/0#1 of node-1', 'lease job/0#2 to 1 (failed)'],
  },
  {
    name: 'a failed shard returns to the node that failed it when the other drains',
    given: [joined(1, 1), joined(2, 1), ...job('job', shards(2)), failed(1, lease(0))],
    when: { kind: 'NodeDraining', session: 2 },
    expected: ['lease job/0#2 to 1 (failed)'],
  },
  {
    name: 'a shard that failed three times is quarantined with its last error',
    given: [joined(1), ...job('job', shards(1)), failed(1, lease(0)), failed(1, lease(0, 2))],
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
      scheduler.handle(joined(session, 1, nodeId), 0);
      return scheduler.handle(left(session), 0).map(words);
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
    const commands = scheduler.handle(left(session), 0).map(words);
    assert.ok(!commands.some((command) => command.startsWith('quarantine')), commands.join());
    scheduler.handle(joined(session + 3, 1, `node-${session % 3}`), 0);
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
  assert.equal(scheduler.queued('job'), 1);
});

test('what it reports adds up: queued, leased and done shards, bytes', () => {
  const scheduler = create();
  scheduler.handle(joined(1, 20), 0);
  scheduler.handle(joined(2, 20), 0);
  for (const event of job('job', shards(10, 10))) scheduler.handle(event, 0);
  assert.deepEqual(scheduler.shards(), { queued: 6, leased: 4, done: 0 });
  assert.deepEqual(scheduler.node(1), { leases: 2, leasedBytes: 20, isDraining: false });
  assert.equal(scheduler.queued('job'), 6);
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
