import { lackOf } from '@halogrid/jobs/output-lack';
import { WantError } from '@halogrid/jobs/want-error';
import type { LeaseId } from '../scheduler/events.ts';
import type { NodeDriver } from './node-driver.ts';
import { NodeQuestions } from './node-questions.ts';
import { countShard } from './node-totals.ts';
import { ResultWriter } from './result-writer.ts';
import type { WorkCommand, WorkParts } from './work-parts.ts';

type CommandOf<Kind> = Extract<WorkCommand, { kind: Kind }>;

/** Executes the scheduler's commands. */
export class CommandRunner {
  readonly #parts: WorkParts;
  readonly #nodes: NodeDriver;
  readonly #questions: NodeQuestions;
  readonly #writer: ResultWriter;

  constructor(parts: WorkParts, nodes: NodeDriver) {
    const { ledger, clock, running, recorder, sights, tell } = parts;
    this.#parts = parts;
    this.#nodes = nodes;
    this.#questions = new NodeQuestions(sights, tell);
    this.#writer = new ResultWriter({ ledger, clock, jobs: running, recorder, tell });
  }

  run(command: WorkCommand): void {
    const { running, sessions, clock } = this.#parts;
    this.#parts.recorder.record(command);
    switch (command.kind) {
      case 'AssignShard':
        this.#assign(command);
        break;
      case 'AdoptShard':
        this.#leased(command);
        break;
      case 'RecallShards':
        sessions.get(command.session)?.connection.recall(command.jobId, command.shards);
        break;
      case 'DropNode':
        this.#nodes.drop(command);
        break;
      case 'ProbeNode':
        this.#questions.probe(command, sessions.get(command.session));
        break;
      case 'VetAnswer':
        void this.#questions.vet(command);
        break;
      case 'VetOutput':
        void this.#questions.vetOutput(command);
        break;
      case 'SkipShard':
        running.get(command.jobId)?.queueShrank();
        void this.#writer.skip(command.jobId, command.shard);
        break;
      case 'CommitShard':
        this.#commit(command);
        break;
      case 'QuarantineShard': {
        const { jobId, shard, error, attempts } = command;
        void this.#writer.quarantine(jobId, shard.shard, error, attempts);
        break;
      }
      case 'KeepShard':
        void this.#writer.keep(command.jobId, command.shard);
        break;
      case 'FinaliseJob':
        running.get(command.jobId)?.shardsDone();
        break;
      case 'FailJob':
        running.fail(command.jobId, new (command.isWant ? WantError : Error)(command.error));
        break;
      case 'RecordSetback':
        if (command.setback === 'failed') sessions.failed(command.nodeId, command.error, clock.wallMs());
        break;
      case 'RecordMismatch':
      case 'RecordWrongAnswer':
      case 'RecordSetAside':
      case 'RecordLack':
        break;
    }
  }

  #assign({ session, lease, shard, verify }: CommandOf<'AssignShard'>): void {
    const run = this.#parts.running.get(lease.jobId);
    const node = this.#parts.sessions.get(session);
    if (!run || !node) return;
    try {
      node.connection.lease({ lease, shard, job: run.job, verify });
    } catch (error) {
      this.#notAssigned({ session, lease }, error as Error);
      return;
    }
    this.#leased({ session, lease });
  }

  /**
   * The sources of a shard are read from the job's log, on the disk of the output. If that disk is missing, the job
   * waits as if results could not be written.
   */
  #notAssigned({ session, lease }: { session: number; lease: LeaseId }, error: Error): void {
    const { running, tell } = this.#parts;
    if (!lackOf(error)) {
      running.fail(lease.jobId, error);
      return;
    }
    const failure = { error: error.message, isOutput: true };
    // Other commands of this turn come first.
    queueMicrotask(() => tell({ kind: 'ShardFailed', session, lease, failure }));
  }

  #leased({ session, lease }: { session: number; lease: LeaseId }): void {
    const { ledger, running, sessions } = this.#parts;
    const { jobId, shard, attempt } = lease;
    const node = sessions.get(session);
    if (node) running.get(jobId)?.shardLeased(node.hello.nodeId);
    ledger.addAttempt(jobId, shard, attempt).catch((error) => running.fail(jobId, error));
    running.tellChanged(jobId);
  }

  #commit(command: CommandOf<'CommitShard'>): void {
    const { clock, running, sessions } = this.#parts;
    // The node may leave before the shard is written, and may come back.
    const totals = sessions.get(command.session)?.totals;
    void this.#writer.commit(command, (pixels) => {
      if (totals) countShard(totals, pixels);
      running.get(command.lease.jobId)?.speed.count(clock.monotonicMs(), pixels);
    });
  }
}
