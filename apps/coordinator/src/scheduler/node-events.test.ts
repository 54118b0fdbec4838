import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mostWaiting } from '@halogrid/results/part-bounds';
import type { Comparable, LeaseId } from './events.ts';
import { maxDeadNodes, maxLosses } from './is-poison.ts';
import type { Scheduler } from './scheduler.ts';
import {
  committed,
  completed,
  create,
  type Event,
  failed,
  job,
  joined,
  lease,
  left,
  proven,
  shards,
  tick,
  words,
} from './testing/scheduler-cases.ts';

// Nodes and their shards as time passes.

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
      // After two losses, the shard waits until nodes that only lost their connection could have come back.
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

/** A job of 20 shards. Node 1 has the last one for a long time, so that node 2 gets it as well, at 5000 ms. */
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
  assert.match(
    failed!,
    /^fail job: Shard 19 was merged as node-2 had computed it, but the reference computes something else/,
  );
  assert.deepEqual(wrong, ['node-2 was wrong on job/19#2', 'drop 2 for good']);
});

test("the scheduler's counts add up: queued, leased and done shards, bytes", () => {
  const scheduler = create();
  scheduler.handle(joined(1, 20), 0);
  scheduler.handle(joined(2, 20), 0);
  for (const event of job('job', shards(10, 10))) scheduler.handle(event, 0);
  assert.deepEqual(scheduler.shards(), { queued: 6, paused: 0, leased: 4, done: 0 });
  const { leases, leasedBytes, isDraining } = scheduler.node(1)!;
  assert.deepEqual([leases, leasedBytes, isDraining], [2, 20, false]);
  assert.equal(scheduler.queued('job').shards, 6);
  scheduler.handle(completed(1, lease(0)), 0);
  scheduler.handle(committed(0), 0);
  scheduler.handle(left(2), 0);
  assert.deepEqual(scheduler.shards(), { queued: 7, paused: 0, leased: 2, done: 1 });
});

const inPart = (session: number, shard: number): Event => ({ kind: 'ShardInPart', session, lease: lease(shard) });

test('a shard in a part makes room for another, once, and is answered as any', () => {
  const scheduler = create();
  const at = (event: Event): string[] => scheduler.handle(event, 0).map(words);
  const bytes = (): number => scheduler.node(1)!.leasedBytes;
  at(joined(1, 20));
  for (const event of job('job', shards(10, 10))) at(event);
  assert.deepEqual(at(inPart(1, 0)), ['lease job/2#1 to 1 (first)']);
  for (const stale of [0, 7]) assert.deepEqual(at(inPart(1, stale)), []);
  assert.deepEqual([bytes(), scheduler.node(1)!.leases], [20, 3]);
  assert.deepEqual(at(completed(1, lease(0))), ['commit job/0#1 of 1']);
  assert.deepEqual([bytes(), scheduler.node(1)!.leases], [20, 2]);
});

test('a node that says of every shard that it is in a part gets no more than two full parts hold', () => {
  const scheduler = create();
  const leased: number[] = [];
  const handle = (event: Event): void => {
    for (const command of scheduler.handle(event, 0))
      if (command.kind === 'AssignShard') leased.push(command.lease.shard);
  };
  handle(joined(1));
  for (const event of job('job', shards(2 * mostWaiting.shards))) handle(event);
  for (let next = 0; next < leased.length; next++) handle(inPart(1, leased[next]!));
  assert.equal(leased.length, mostWaiting.shards + 1 + 3);
  // Once results of some are there, it gets others.
  for (const shard of leased.slice(0, 4)) handle(completed(1, lease(shard)));
  assert.ok(leased.length > mostWaiting.shards + 4);
});

test('a shard in a part is not blamed for the deaths of nodes', () => {
  const scheduler = create();
  const at = (event: Event): string[] => scheduler.handle(event, 0).map(words);
  for (const event of job('job', shards(4, 10))) at(event);
  for (const death of [1, 2]) {
    at(joined(death, 40));
    for (const shard of [0, 1]) at({ kind: 'ShardInPart', session: death, lease: lease(shard, death) });
    at(left(death));
  }
  // The other two may have killed both nodes: they wait for these to come back.
  assert.deepEqual(at(joined(3, 40)), ['lease job/0#3 to 3 (lost)', 'lease job/1#3 to 3 (lost)']);
});

test('a node whose shards are all in parts gets a shard larger than its credit', () => {
  const scheduler = create();
  const at = (event: Event): string[] => scheduler.handle(event, 0).map(words);
  at(joined(1, 20));
  for (const event of job('job', shards(2, 50))) at(event);
  assert.deepEqual(at(inPart(1, 0)), ['lease job/1#1 to 1 (first)']);
});

test('the command to lease says how long the shard was queued', () => {
  const scheduler = create();
  for (const event of job('job', shards(1))) scheduler.handle(event, 1000);
  const [command] = scheduler.handle(joined(1), 1250);
  assert.equal(command?.kind === 'AssignShard' && command.waitedMs, 250);
});

test('if a node is alone and fails everything, its jobs wait and then fail; no shard is blamed', () => {
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

test('the failures of a node count on when it attaches again', () => {
  const scheduler = create();
  for (const event of [joined(1, 1), ...job('job', shards(2)), failed(1, lease(0)), left(1)])
    scheduler.handle(event, 0);
  scheduler.handle(joined(2, 1, 'node-1'), 0);
  assert.equal(scheduler.node(2)?.failures, 1);
});

test('if only shards that no node can compute are left, nodes that computed for an earlier coordinator are not blamed', () => {
  const scheduler = create();
  const told: string[] = [];
  const held: { session: number; lease: LeaseId }[] = [];
  const handle = (event: Event, now: number): void => {
    for (const command of scheduler.handle(event, now)) {
      if (command.kind === 'AssignShard') held.push(command);
      else if (command.kind !== 'RecordSetback') told.push(words(command));
    }
  };
  for (const session of [1, 2, 3]) handle({ ...joined(session), hasComputed: true } as Event, 0);
  for (const jobId of ['first', 'second']) {
    const open = [{ shard: shards(8)[7]!, attempts: 1 }];
    handle({ kind: 'JobResumed', jobId, planned: 8, kept: 0, open }, 0);
    handle({ kind: 'PlanEnded', jobId }, 0);
  }
  for (let now = 0; now < 20_000; now += 100) {
    for (const { session, lease } of held.splice(0)) handle(failed(session, lease), now);
    for (const session of [1, 2, 3]) handle({ kind: 'NodeReported', session }, now);
    handle(tick, now);
  }
  assert.deepEqual(told.toSorted(), [
    'quarantine first/7 after 4: The device was lost',
    'quarantine second/7 after 4: The device was lost',
  ]);
});
