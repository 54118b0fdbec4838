import assert from 'node:assert/strict';
import { test } from 'node:test';
import { plannedSources } from '@halogrid/jobs/testing-planned';
import { repeated } from '@halogrid/testing';
import fc from 'fast-check';
import type { Comparable, JobOrder, LeaseId, SchedulerEvent } from './events.ts';
import { Scheduler } from './scheduler.ts';

/** Enough that no job of a test ends: who shares with whom does not change. */
const manyShards = 600;

/** Nodes that answer their leases in any order, and what each owner holds and has got. */
class Cluster {
  readonly held: { session: number; lease: LeaseId; owner: string }[] = [];
  readonly done = new Map<string, number>();
  readonly #scheduler = new Scheduler<Comparable>({ epoch: 1, reportWithinMs: 1000, tickMs: 100 });
  readonly #owners = new Map<string, string>();

  submit(order: JobOrder & { owner: string }): void {
    const { jobId, owner } = order;
    this.#owners.set(jobId, owner);
    this.done.set(owner, 0);
    this.send({ kind: 'JobSubmitted', ...order });
    const work = { kind: 'frames' as const, sources: plannedSources([]) };
    const shards = Array.from({ length: manyShards }, (_, shard) => ({ shard, work, costBytes: 1 }));
    this.send({ kind: 'ShardsPlanned', jobId, shards });
  }

  join(session: number, creditBytes: number): void {
    this.send({ kind: 'NodeJoined', session, nodeId: `node-${session}`, creditBytes, decoders: creditBytes });
  }

  /** One of the leases is answered, and its answer is written. */
  answer(pick: number): void {
    const [{ session, lease, owner }] = this.held.splice(pick % this.held.length, 1) as [(typeof this.held)[0]];
    this.done.set(owner, this.done.get(owner)! + 1);
    this.send({ kind: 'ShardCompleted', session, lease, answer: { digest: 'right', bytes: 0 } });
    this.send({ kind: 'CommitFinished', jobId: lease.jobId, shard: lease.shard });
  }

  send(event: SchedulerEvent<Comparable>): void {
    for (const command of this.#scheduler.handle(event, 0)) {
      if (command.kind !== 'AssignShard') continue;
      const { session, lease } = command;
      this.held.push({ session, lease, owner: this.#owners.get(lease.jobId)! });
    }
  }

  heldBy(owner: string): number {
    return this.held.filter((held) => held.owner === owner).length;
  }
}

const owners = ['ann', 'bob', 'cleo'];
/** How many jobs each owner has, and the priorities of these. */
const queues = fc.tuple(
  ...owners.map(() => fc.array(fc.integer({ min: -100, max: 100 }), { minLength: 1, maxLength: 20 })),
);
const credits = fc.array(fc.integer({ min: 1, max: 8 }), { minLength: 1, maxLength: 4 });
const picks = fc.array(fc.nat(1000), { minLength: 60, maxLength: 200, size: 'max' });

function start(priorities: readonly (readonly number[])[], nodes: readonly number[]): Cluster {
  const cluster = new Cluster();
  for (const [i, its] of priorities.entries()) {
    for (const [j, priority] of its.entries()) {
      cluster.submit({ jobId: `${owners[i]}-${j}`, owner: owners[i]!, priority });
    }
  }
  for (const [i, credit] of nodes.entries()) cluster.join(i + 1, credit);
  return cluster;
}

const runs = { numRuns: repeated(50, 500) };

test('owners with equal priorities hold equally much, however many jobs each of them has', () => {
  fc.assert(
    fc.property(queues, credits, picks, (jobs, nodes, order) => {
      const cluster = start(
        jobs.map((its) => its.map(() => 0)),
        nodes,
      );
      for (const pick of order) {
        cluster.answer(pick);
        // A node answers before it is leased more, so that an owner may hold one less for a moment.
        const counts = owners.map((owner) => cluster.heldBy(owner));
        assert.ok(Math.max(...counts) - Math.min(...counts) <= 2, `${counts}`);
      }
      const most = Math.max(...cluster.done.values());
      // Answers come in any order, so that luck decides about some.
      const least = Math.min(...cluster.done.values());
      if (nodes.length === 1 && nodes[0] === 1) assert.ok(most - least <= 1, `${[...cluster.done]}`);
    }),
    runs,
  );
});

test('no owner starves, whatever the priorities of the others', () => {
  fc.assert(
    fc.property(queues, credits, picks, (jobs, nodes, order) => {
      const cluster = start(jobs, nodes);
      // The first who waits is leased the next shard that is free, so that each owner has its turn.
      const places = cluster.held.length;
      const oldest = (): number => 0;
      for (const _ of order) cluster.answer(oldest());
      for (const [owner, done] of cluster.done) {
        // With three owners, weights of 1/2 and twice 2 leave one of nine parts.
        const fair = order.length / 9;
        assert.ok(done + cluster.heldBy(owner) >= Math.floor(fair) - places, `${owner}: ${done} of ${order.length}`);
        assert.ok(done > 0 || order.length < 3 * places, `${owner} got nothing of ${order.length}`);
      }
    }),
    runs,
  );
});

test('of an owner who is alone, the highest priority is served first', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.integer({ min: -100, max: 100 }), { minLength: 2, maxLength: 5 }), (priorities) => {
      const cluster = start([priorities], [4]);
      const highest = `ann-${priorities.indexOf(Math.max(...priorities))}`;
      for (const { lease } of cluster.held) assert.equal(lease.jobId, highest);
    }),
    runs,
  );
});

test('between owners, a priority of 100 doubles a share, and -100 halves it', () => {
  const cluster = start([[100], [0], [-100]], [7]);
  for (let i = 0; i < 100; i++) cluster.answer(0);
  assert.deepEqual(
    owners.map((owner) => cluster.heldBy(owner)),
    [4, 2, 1],
  );
});

test('the leases of an owner hold no more than its credit; the others get the rest', () => {
  const cluster = new Cluster();
  cluster.send({ kind: 'OwnersLimited', credits: { named: new Map([['ann', 1]]), others: 3 } });
  for (const owner of owners) cluster.submit({ jobId: owner, owner });
  cluster.join(1, 20);
  for (let i = 0; i < 100; i++) cluster.answer(i);
  assert.deepEqual(
    owners.map((owner) => cluster.heldBy(owner)),
    [1, 3, 3],
  );
  cluster.send({ kind: 'OwnersLimited', credits: { named: new Map([['ann', 5]]), others: 3 } });
  assert.deepEqual(
    owners.map((owner) => cluster.heldBy(owner)),
    [5, 3, 3],
  );
});

test('a paused job keeps its leases and gets no more; later it goes on', () => {
  const cluster = start([[0]], [4]);
  const held = cluster.held.length;
  cluster.send({ kind: 'JobPaused', jobId: 'ann-0', isPaused: true });
  assert.equal(cluster.held.length, held);
  while (cluster.held.length > 0) cluster.answer(0);
  assert.equal(cluster.done.get('ann'), held);
  cluster.join(2, 4);
  assert.equal(cluster.held.length, 0);
  cluster.send({ kind: 'JobPaused', jobId: 'ann-0', isPaused: false });
  assert.ok(cluster.held.length > 0);
});
