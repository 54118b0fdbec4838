import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import type { Shard } from '../shard.ts';
import type { LeaseId, SchedulerEvent } from './events.ts';
import { maxSettling } from './placement.ts';
import { Scheduler } from './scheduler.ts';

interface SimulatedNode {
  nodeId: string;
  creditBytes: number;
  isDraining: boolean;
  held: { lease: LeaseId; costBytes: number }[];
}

interface SimulatedJob {
  planned: number;
  isPlanEnded: boolean;
  isAbandoned: boolean;
  finalised: number;
  /** How often each shard was written to the ledger as done, and as given up. */
  done: Map<number, 'committed' | 'quarantined'>;
}

/**
 * A world of nodes and jobs around a scheduler: it carries out commands, checks them, and makes of random numbers events
 * that could really happen. Writing to the ledger takes a while, as it would.
 */
class World {
  readonly scheduler = new Scheduler<LeaseId>({ epoch: 1, reportWithinMs: 1000, tickMs: 100 });
  readonly nodes = new Map<number, SimulatedNode>();
  readonly jobs = new Map<string, SimulatedJob>();
  readonly pastLeases: LeaseId[] = [];
  #writing: { lease: LeaseId; how: 'committed' | 'quarantined' }[] = [];
  #now = 0;
  #sessions = 0;

  send(event: SchedulerEvent<LeaseId>): void {
    for (const command of this.scheduler.handle(event, this.#now)) {
      switch (command.kind) {
        case 'AssignShard': {
          const node = this.nodes.get(command.session);
          assert.ok(node, 'a lease goes to an attached node');
          assert.ok(!node.isDraining, 'a draining node is given nothing');
          assert.ok(this.isOpen(command.lease), 'a shard that is done is not leased');
          const settling = this.#writing.filter(({ lease }) => lease.jobId === command.lease.jobId);
          assert.ok(settling.length < maxSettling, 'a job whose ledger cannot keep up is held up');
          for (const other of this.nodes.values()) {
            assert.ok(!other.held.some(({ lease }) => isSameShard(lease, command.lease)), 'one lease a shard');
          }
          node.held.push({ lease: command.lease, costBytes: command.shard.costBytes });
          this.pastLeases.push(command.lease);
          const bytes = node.held.reduce((sum, { costBytes }) => sum + costBytes, 0);
          assert.ok(
            bytes <= node.creditBytes || node.held.length === 1,
            'the credit covers the leases, or there is one',
          );
          break;
        }
        case 'RecallShards': {
          const node = this.nodes.get(command.session)!;
          assert.ok(
            node.held.some(({ lease }) => lease.jobId === command.jobId),
            'only what is held is recalled',
          );
          node.held = node.held.filter(({ lease }) => lease.jobId !== command.jobId);
          break;
        }
        case 'DropNode':
          assert.ok(this.nodes.delete(command.session), 'only an attached node is dropped');
          break;
        case 'CommitShard':
          assert.deepEqual(command.answer, command.lease, 'the answer is the one to the lease');
          this.#writing.push({ lease: command.lease, how: 'committed' });
          break;
        case 'QuarantineShard': {
          const { jobId, shard, attempts } = command;
          assert.ok(attempts >= 3, 'nothing is given up before three attempts');
          this.#writing.push({ lease: { jobId, shard: shard.shard, attempt: attempts, epoch: 1 }, how: 'quarantined' });
          break;
        }
        case 'FinaliseJob': {
          const job = this.jobs.get(command.jobId)!;
          assert.ok(job.isPlanEnded && !job.isAbandoned && job.done.size === job.planned, 'all is done when finalised');
          job.finalised++;
          break;
        }
        case 'RecordSetback':
          break;
      }
    }
    this.#checkBooks();
  }

  isOpen({ jobId, shard }: LeaseId): boolean {
    const job = this.jobs.get(jobId);
    return !!job && !job.isAbandoned && !job.done.has(shard);
  }

  join(name: number, creditBytes: number): void {
    const session = ++this.#sessions;
    this.nodes.set(session, { nodeId: `node-${name}`, creditBytes, isDraining: false, held: [] });
    this.send({ kind: 'NodeJoined', session, nodeId: `node-${name}`, creditBytes });
  }

  submit(jobId: string): void {
    this.jobs.set(jobId, {
      planned: 0,
      isPlanEnded: false,
      isAbandoned: false,
      finalised: 0,
      done: new Map(),
    });
    this.send({ kind: 'JobSubmitted', jobId });
  }

  plan(jobId: string, costs: number[]): void {
    const job = this.jobs.get(jobId)!;
    if (job.isPlanEnded || job.isAbandoned) return;
    const shards = costs.map((costBytes): Shard => {
      return { shard: job.planned++, work: { kind: 'frames', sources: [] }, costBytes };
    });
    this.send({ kind: 'ShardsPlanned', jobId, shards });
  }

  endPlan(jobId: string): void {
    this.jobs.get(jobId)!.isPlanEnded = true;
    this.send({ kind: 'PlanEnded', jobId });
  }

  /** One of the nodes answers one of its leases. */
  answer(pick: number, isSuccess: boolean): void {
    const [session, node] = this.#pickNode(pick);
    const [held] = node?.held.splice(pick % node.held.length, 1) ?? [];
    if (!held) return;
    this.#say(session!, held.lease, isSuccess);
  }

  /** One of the nodes answers a lease that it has answered before, has lost, or never had. */
  answerAgain(pick: number, isSuccess: boolean): void {
    const [session, node] = this.#pickNode(pick);
    const lease = this.pastLeases[pick % this.pastLeases.length];
    if (!lease || !node || node.held.some((held) => isDeepStrictEqual(held.lease, lease))) return;
    this.#say(session!, lease, isSuccess);
  }

  leave(pick: number): void {
    const [session] = this.#pickNode(pick);
    if (session === undefined) return;
    this.nodes.delete(session);
    this.send({ kind: 'NodeLeft', session });
  }

  drain(pick: number): void {
    const [session, node] = this.#pickNode(pick);
    if (session === undefined) return;
    node!.isDraining = true;
    this.send({ kind: 'NodeDraining', session });
  }

  /** Time passes in ticks; nodes speak all the while, unless they are silent. */
  pass(ms: number, areSilent: boolean): void {
    for (let end = this.#now + ms; this.#now < end; ) {
      this.#now += 100;
      for (const session of areSilent ? [] : [...this.nodes.keys()]) this.send({ kind: 'NodeReported', session });
      this.send({ kind: 'Tick' });
    }
  }

  /** The oldest write to the ledger ends. */
  write(isRejected: boolean): void {
    const next = this.#writing.shift();
    if (!next) return;
    const { lease, how } = next;
    const job = this.jobs.get(lease.jobId)!;
    if (isRejected && how === 'committed') {
      this.send({ kind: 'CommitRejected', lease, error: 'It cannot be right' });
      return;
    }
    if (!job.isAbandoned) assert.ok(!job.done.has(lease.shard), 'a shard is written once');
    job.done.set(lease.shard, how);
    this.send({ kind: 'CommitFinished', jobId: lease.jobId, shard: lease.shard });
  }

  abandon(jobId: string): void {
    const job = this.jobs.get(jobId)!;
    if (job.finalised) return;
    job.isAbandoned = true;
    this.send({ kind: 'JobAbandoned', jobId });
  }

  get isIdle(): boolean {
    return this.#writing.length === 0 && [...this.nodes.values()].every(({ held }) => held.length === 0);
  }

  #say(session: number, lease: LeaseId, isSuccess: boolean): void {
    if (isSuccess) this.send({ kind: 'ShardCompleted', session, lease, answer: lease });
    else this.send({ kind: 'ShardFailed', session, lease, failure: { error: 'It failed', isOutput: false } });
  }

  #pickNode(pick: number): [number, SimulatedNode] | [undefined, undefined] {
    return [...this.nodes][pick % this.nodes.size] ?? [undefined, undefined];
  }

  #checkBooks(): void {
    let held = 0;
    for (const [session, node] of this.nodes) {
      const booked = this.scheduler.node(session);
      const leasedBytes = node.held.reduce((sum, { costBytes }) => sum + costBytes, 0);
      assert.deepEqual(booked, { leases: node.held.length, leasedBytes, isDraining: node.isDraining });
      held += node.held.length;
    }
    const writing = this.#writing.filter(({ lease }) => this.isOpen(lease)).length;
    assert.equal(this.scheduler.shards().leased, held + writing, 'every shard is queued, held, being written or done');
  }
}

const isSameShard = (a: LeaseId, b: LeaseId): boolean => a.jobId === b.jobId && a.shard === b.shard;

const jobIds = ['a', 'b', 'c'];
const pick = fc.nat(1000);
const jobId = fc.constantFrom(...jobIds);
const action = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('join' as const), name: fc.nat(5), creditBytes: fc.nat(30) }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('plan' as const), jobId, costs: fc.array(fc.nat(20), { maxLength: 12 }) }),
  },
  { weight: 9, arbitrary: fc.record({ do: fc.constant('answer' as const), pick, isSuccess: fc.boolean() }) },
  { weight: 9, arbitrary: fc.record({ do: fc.constant('write' as const), isRejected: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('answerAgain' as const), pick, isSuccess: fc.boolean() }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('leave' as const), pick }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('drain' as const), pick }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.nat(1500), areSilent: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('endPlan' as const), jobId }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('abandon' as const), jobId }) },
);

function perform(world: World, step: typeof action extends fc.Arbitrary<infer T> ? T : never): void {
  switch (step.do) {
    case 'join':
      world.join(step.name, step.creditBytes);
      break;
    case 'plan':
      world.plan(step.jobId, step.costs);
      break;
    case 'answer':
      world.answer(step.pick, step.isSuccess);
      break;
    case 'write':
      world.write(step.isRejected);
      break;
    case 'answerAgain':
      world.answerAgain(step.pick, step.isSuccess);
      break;
    case 'leave':
      world.leave(step.pick);
      break;
    case 'drain':
      world.drain(step.pick);
      break;
    case 'pass':
      world.pass(step.ms, step.areSilent);
      break;
    case 'endPlan':
      world.endPlan(step.jobId);
      break;
    case 'abandon':
      world.abandon(step.jobId);
      break;
  }
}

test('whatever nodes do, a job ends once with every shard done once, as long as a healthy node remains', () => {
  fc.assert(
    fc.property(fc.array(action, { maxLength: 150, size: 'max' }), (steps) => {
      const world = new World();
      for (const id of jobIds) world.submit(id);
      for (const step of steps) perform(world, step);

      // From here on all is well: plans end, a healthy node joins, and everybody answers.
      for (const [id, job] of world.jobs) if (!job.isPlanEnded && !job.isAbandoned) world.endPlan(id);
      world.join(99, 10);
      for (let rounds = 0; !world.isIdle; rounds++) {
        assert.ok(rounds < 2000, 'the work comes to an end');
        for (let node = 0; node < world.nodes.size; node++) world.answer(node, true);
        world.write(false);
        world.pass(100, false);
      }
      for (const [id, job] of world.jobs) {
        assert.equal(job.finalised, job.isAbandoned ? 0 : 1, `job ${id} is finalised once, unless it was abandoned`);
      }
      assert.deepEqual(world.scheduler.shards(), { queued: 0, leased: 0, done: 0 });
    }),
    { numRuns: 500 },
  );
});
