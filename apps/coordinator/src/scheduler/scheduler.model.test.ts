import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { isKept, type Shard } from '@halogrid/jobs/shard';
import { plannedSources } from '@halogrid/jobs/testing-planned';
import { repeated } from '@halogrid/testing';
import fc from 'fast-check';
import { maxUnwrittenBytes } from './choose-job.ts';
import type { LeaseId, SchedulerEvent } from './events.ts';
import { Scheduler } from './scheduler.ts';

interface SimulatedNode {
  nodeId: string;
  creditBytes: number;
  isDraining: boolean;
  held: { lease: LeaseId; costBytes: number; verify: boolean; isInPart: boolean }[];
}

interface SimulatedJob {
  planned: number;
  isPlanEnded: boolean;
  isAbandoned: boolean;
  isPaused: boolean;
  finalised: number;
  /** What was written to the ledger for each done shard, by its number. */
  done: Map<number, 'committed' | 'quarantined' | 'kept'>;
}

interface Answer {
  lease: LeaseId;
  digest: string;
  bytes: number;
}

/** This many answers have as many bytes as may be unwritten. */
const mostAnswers = 16;

/** A node's answer to a lease. A device may be wrong; the reference never is. */
type Outcome = 'right' | 'wrong' | 'failed' | 'device lost' | 'returned';

/** Jobs, the highest number last; the answers of the one without checks are all right. */
const orders = [
  { jobId: 'a', owner: 'ann', priority: 0, verifyPercent: 0 },
  { jobId: 'b', owner: 'ann', priority: 0, verifyPercent: 100 },
  { jobId: 'c', owner: 'bob', priority: 3, verifyPercent: 50 },
];

/**
 * A world of nodes and jobs around a scheduler: it executes commands, checks them, and makes possible events from
 * random numbers. As in reality, writing to the ledger takes a while.
 */
class World {
  readonly scheduler = new Scheduler<Answer>({ epoch: 1, reportWithinMs: 1000, tickMs: 100 });
  readonly nodes = new Map<number, SimulatedNode>();
  readonly jobs = new Map<string, SimulatedJob>();
  readonly pastLeases: LeaseId[] = [];
  /** Ids of nodes that ever answered wrongly. */
  readonly liars = new Set<string>();
  readonly #broken: string[] = [];
  #writing: { lease: LeaseId; how: 'committed' | 'quarantined' | 'kept' }[] = [];
  #now = 0;
  #sessions = 0;

  send(event: SchedulerEvent<Answer>): void {
    for (const command of this.scheduler.handle(event, this.#now)) {
      switch (command.kind) {
        case 'AssignShard': {
          const node = this.nodes.get(command.session);
          assert.ok(node, 'a lease goes to an attached node');
          assert.ok(!node.isDraining, 'a draining node gets no shards');
          assert.ok(this.isOpen(command.lease) || command.verify, 'a done shard is only checked');
          assert.ok(!this.jobs.get(command.lease.jobId)?.isPaused, 'nothing of a paused job is leased');
          assert.ok(!isKept(command.shard), 'kept shards are not leased');
          const settling = this.#writing.filter(({ lease }) => lease.jobId === command.lease.jobId);
          const commits = settling.filter(({ how }) => how === 'committed');
          assert.ok(commits.length < mostAnswers, 'a job whose ledger cannot keep up is held up');
          const holders = [...this.nodes.values()].filter((other) => {
            return other.held.some(({ lease }) => isSameShard(lease, command.lease));
          });
          assert.ok(!holders.includes(node), 'a node holds a shard once');
          assert.ok(holders.length <= (command.reason === 'straggler' ? 1 : 0), 'a shard has one lease, and one copy');
          assert.ok(!this.pastLeases.some((past) => isDeepStrictEqual(past, command.lease)), 'no lease is given twice');
          const { costBytes } = command.shard;
          node.held.push({ lease: command.lease, costBytes, verify: command.verify, isInPart: false });
          this.pastLeases.push(command.lease);
          assert.ok(
            creditUsed(node) <= node.creditBytes || node.held.filter(({ isInPart }) => !isInPart).length === 1,
            'the credit covers the leases, or there is only one',
          );
          break;
        }
        case 'RecallShards': {
          const node = this.nodes.get(command.session)!;
          const isMeant = ({ jobId, shard }: LeaseId): boolean =>
            jobId === command.jobId && (command.shards.length === 0 || command.shards.includes(shard));
          assert.ok(
            node.held.some(({ lease }) => isMeant(lease)),
            'only held shards are recalled',
          );
          node.held = node.held.filter(({ lease }) => !isMeant(lease));
          break;
        }
        case 'DropNode':
          assert.ok(this.nodes.delete(command.session), 'only an attached node is dropped');
          break;
        case 'CommitShard':
          assert.deepEqual(command.answer.lease, command.lease, 'the answer belongs to the lease');
          if (command.lease.jobId === 'b') assert.equal(command.answer.digest, 'right', 'checked answers are right');
          this.#writing.push({ lease: command.lease, how: 'committed' });
          break;
        case 'QuarantineShard': {
          const { jobId, shard, attempts } = command;
          assert.ok(attempts >= 3, 'nothing is given up before three attempts');
          this.#writing.push({ lease: { jobId, shard: shard.shard, attempt: attempts, epoch: 1 }, how: 'quarantined' });
          break;
        }
        case 'KeepShard':
          this.#writing.push({
            lease: { jobId: command.jobId, shard: command.shard.shard, attempt: 0, epoch: 1 },
            how: 'kept',
          });
          break;
        case 'FinaliseJob': {
          const job = this.jobs.get(command.jobId)!;
          assert.ok(job.isPlanEnded && !job.isAbandoned && job.done.size === job.planned, 'all is done when finalised');
          job.finalised++;
          break;
        }
        case 'FailJob':
          this.#broken.push(command.jobId);
          break;
        case 'RecordWrongAnswer':
          assert.ok(this.liars.has(command.nodeId), 'only nodes that were wrong are sent away');
          break;
        case 'RecordMismatch':
        case 'RecordSetAside':
        case 'RecordSetback':
          break;
      }
    }
    for (const jobId of this.#broken.splice(0)) this.abandon(jobId);
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

  submit(order: (typeof orders)[number]): void {
    this.jobs.set(order.jobId, {
      planned: 0,
      isPlanEnded: false,
      isAbandoned: false,
      isPaused: false,
      finalised: 0,
      done: new Map(),
    });
    this.send({ kind: 'JobSubmitted', ...order });
  }

  plan(jobId: string, costs: number[]): void {
    const job = this.jobs.get(jobId)!;
    if (job.isPlanEnded || job.isAbandoned) return;
    const shards = costs.map((costBytes): Shard => {
      const [shard, sources] = [job.planned++, plannedSources([])];
      if (costBytes % 5 === 3) return { shard, work: { kind: 'kept', sources, earlier: [] }, costBytes: 0 };
      return { shard, work: { kind: 'frames', sources }, costBytes };
    });
    this.send({ kind: 'ShardsPlanned', jobId, shards });
  }

  endPlan(jobId: string): void {
    this.jobs.get(jobId)!.isPlanEnded = true;
    this.send({ kind: 'PlanEnded', jobId });
  }

  /** One of the nodes answers one of its leases. */
  answer(pick: number, outcome: Outcome): void {
    const [session, node] = this.#pickNode(pick);
    const [held] = node?.held.splice(pick % node.held.length, 1) ?? [];
    if (!held) return;
    this.#say(session!, held.lease, held.verify && outcome === 'wrong' ? 'right' : outcome);
  }

  /** A node has computed one of its shards, whose results wait. It may say so twice, or of a lease that it lost. */
  putInPart(pick: number): void {
    const [session, node] = this.#pickNode(pick);
    const held = node?.held[pick % node.held.length];
    const lease = held?.lease ?? this.pastLeases[pick % this.pastLeases.length];
    if (!lease || !node) return;
    if (held) held.isInPart = true;
    this.send({ kind: 'ShardInPart', session: session!, lease });
  }

  /** One of the nodes answers a lease that it has answered before, has lost, or never had. */
  answerAgain(pick: number, outcome: Outcome): void {
    const [session, node] = this.#pickNode(pick);
    const lease = this.pastLeases[pick % this.pastLeases.length];
    if (!lease || !node || node.held.some((held) => isDeepStrictEqual(held.lease, lease))) return;
    this.#say(session!, lease, outcome);
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

  /** Time passes in ticks; nodes report at each tick, unless they are silent. */
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

  pause(jobId: string, isPaused: boolean): void {
    this.jobs.get(jobId)!.isPaused = isPaused;
    this.send({ kind: 'JobPaused', jobId, isPaused });
  }

  abandon(jobId: string): void {
    const job = this.jobs.get(jobId)!;
    if (job.finalised) return;
    job.isAbandoned = true;
    this.send({ kind: 'JobAbandoned', jobId });
  }

  get isOver(): boolean {
    const areEnded = [...this.jobs.values()].every(({ isAbandoned, finalised }) => isAbandoned || finalised > 0);
    return areEnded && this.#writing.length === 0 && [...this.nodes.values()].every(({ held }) => held.length === 0);
  }

  #say(session: number, lease: LeaseId, outcome: Outcome): void {
    const { nodeId } = this.nodes.get(session)!;
    const isWrong = outcome === 'wrong' && lease.jobId !== 'a';
    if (isWrong) this.liars.add(nodeId);
    switch (outcome) {
      case 'right':
      case 'wrong': {
        const digest = isWrong ? `wrong by ${nodeId}` : 'right';
        const answer = { lease, digest, bytes: maxUnwrittenBytes / mostAnswers };
        this.send({ kind: 'ShardCompleted', session, lease, answer });
        break;
      }
      case 'failed':
      case 'device lost': {
        const failure = { error: 'It failed', isOutput: false, isDevice: outcome === 'device lost' };
        this.send({ kind: 'ShardFailed', session, lease, failure });
        break;
      }
      case 'returned':
        this.pastLeases.splice(
          this.pastLeases.findIndex((past) => isDeepStrictEqual(past, lease)),
          1,
        );
        this.send({ kind: 'ShardReturned', session, lease });
        break;
    }
  }

  #pickNode(pick: number): [number, SimulatedNode] | [undefined, undefined] {
    return [...this.nodes][pick % this.nodes.size] ?? [undefined, undefined];
  }

  #checkBooks(): void {
    const held = new Set<string>();
    for (const [session, node] of this.nodes) {
      const { leases, leasedBytes: bytes, isDraining } = this.scheduler.node(session)!;
      assert.deepEqual([leases, bytes, isDraining], [node.held.length, creditUsed(node), node.isDraining]);
      for (const { lease } of node.held) held.add(`${lease.jobId}/${lease.shard}`);
    }
    const writing = this.#writing.filter(({ lease, how }) => how !== 'kept' && this.isOpen(lease)).length;
    assert.equal(
      this.scheduler.shards().leased,
      held.size + writing,
      'every shard for nodes is queued, held, written or done',
    );
  }
}

/** Cost of the leases that are not in a part. */
const creditUsed = ({ held }: SimulatedNode): number =>
  held.reduce((sum, { costBytes, isInPart }) => sum + (isInPart ? 0 : costBytes), 0);

const isSameShard = (a: LeaseId, b: LeaseId): boolean => a.jobId === b.jobId && a.shard === b.shard;

const pick = fc.nat(1000);
const jobId = fc.constantFrom(...orders.map((order) => order.jobId));
const outcome = fc.oneof(
  { weight: 6, arbitrary: fc.constant<Outcome>('right') },
  { weight: 4, arbitrary: fc.constantFrom<Outcome>('failed', 'device lost', 'returned', 'wrong') },
);
const action = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('join' as const),
      name: fc.nat(5),
      creditBytes: fc.integer({ min: 1, max: 30 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('plan' as const), jobId, costs: fc.array(fc.nat(20), { maxLength: 12 }) }),
  },
  { weight: 9, arbitrary: fc.record({ do: fc.constant('answer' as const), pick, outcome }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('putInPart' as const), pick }) },
  { weight: 9, arbitrary: fc.record({ do: fc.constant('write' as const), isRejected: fc.boolean() }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('answerAgain' as const),
      pick,
      outcome: fc.constantFrom<Outcome>('right', 'failed'),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('leave' as const), pick }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('drain' as const), pick }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.nat(4000), areSilent: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('endPlan' as const), jobId }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('abandon' as const), jobId }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('pause' as const), jobId, isPaused: fc.boolean() }) },
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
      world.answer(step.pick, step.outcome);
      break;
    case 'putInPart':
      world.putInPart(step.pick);
      break;
    case 'write':
      world.write(step.isRejected);
      break;
    case 'answerAgain':
      world.answerAgain(step.pick, step.outcome);
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
    case 'pause':
      world.pause(step.jobId, step.isPaused);
      break;
  }
}

test('whatever nodes do, a job ends once with every shard done once, as long as a healthy node remains', () => {
  fc.assert(
    fc.property(fc.array(action, { maxLength: 150, size: 'max' }), (steps) => {
      const world = new World();
      for (const order of orders) world.submit(order);
      for (const step of steps) perform(world, step);

      // From here on all is well: plans end, no job is paused, a healthy node joins, and every node answers.
      for (const [id, job] of world.jobs) {
        if (!job.isPlanEnded && !job.isAbandoned) world.endPlan(id);
        world.pause(id, false);
      }
      world.join(99, 10);
      for (let rounds = 0; !world.isOver; rounds++) {
        assert.ok(rounds < 2000, 'the work comes to an end');
        for (let node = 0; node < world.nodes.size; node++) world.answer(node, 'right');
        world.write(false);
        world.pass(100, false);
      }
      for (const [id, job] of world.jobs) {
        assert.equal(job.finalised, job.isAbandoned ? 0 : 1, `job ${id} is finalised once, unless it was abandoned`);
      }
      assert.deepEqual(world.scheduler.shards(), { queued: 0, paused: 0, leased: 0, done: 0 });
    }),
    { numRuns: repeated(100, 1500) },
  );
});
