import type { JobShares } from './job-shares.ts';

/** How many bytes count in the log that the leader with this epoch wrote for a job. */
export interface LogMark {
  epoch: number;
  bytes: number;
}

/** A job of the registry. */
export interface RegisteredJob {
  jobId: string;
  /** What was asked for, as JSON. It never changes. */
  spec: string;
  /** Its status, as JSON. */
  status: string;
  /** In order of epoch; none once the job has ended. */
  marks: readonly LogMark[];
  /** The epoch of the member that leads it; undefined once it has ended. */
  leader: number | undefined;
  /**
   * The fencing number of its leases and the name of the log that its leader writes: it grows with every change of its
   * leader.
   */
  epoch: number;
}

/** One change of a transaction. The last change of each job counts, so that a transaction may be written twice. */
export type JobChange =
  /**
   * A new job, which the writer leads. If the job exists already, this acts like the next kind of change, and ignores
   * the specification.
   */
  | { kind: 'begin'; jobId: string; spec: string; status: string; marks: readonly LogMark[] }
  /** The present status and marks of a job that the writer leads. */
  | { kind: 'note'; jobId: string; status: string; marks: readonly LogMark[] }
  /** The job has ended: nobody leads it, and its logs do not count. */
  | { kind: 'end'; jobId: string; status: string }
  /** The job is forgotten, if it is there. */
  | { kind: 'remove'; jobId: string };

/** A process that leads. */
export interface Leader {
  /** Names it for people. */
  holder: string;
  epoch: number;
}

/**
 * Stores which jobs exist, which process leads each, and how much of their logs counts. It does not interpret
 * specifications and statuses. Leaders write, everybody reads. Job ids are printable ASCII.
 *
 * The lease of a leader ends `leaseMs` after its last `acquire` or `renew`, by the registry's own clock. An expired
 * leader can still write until a successor takes its jobs.
 */
export interface Registry {
  /**
   * Present if several members lead at the same time, each some of the jobs: then every caller of `acquire` becomes a
   * leader at once, and ends when another takes its jobs. Otherwise the one leader leads all jobs from `acquire` on.
   */
  readonly shares?: JobShares;
  /** Becomes a leader, with an epoch higher than any before; undefined while another leads alone. */
  acquire(holder: string, leaseMs: number): Promise<number | undefined>;
  /** Extends the lease. False if this epoch no longer leads: it can never write again. */
  renew(epoch: number, leaseMs: number): Promise<boolean>;
  /** Ends the lease at once, so that a standby does not wait. Without effect if another process leads. */
  release(epoch: number): Promise<void>;
  /** The present leader; undefined if there is none. */
  leader(): Promise<Leader | undefined>;
  /**
   * All jobs, or the existing ones with these ids, in order of id, a page at a time. May or may not include concurrent
   * writes. Rejects with DamagedLedgerError if a job has changed since it was written.
   */
  jobs(ids?: readonly string[]): AsyncIterable<RegisteredJob>;
  /**
   * Makes all changes or none; they are durable when it resolves. The changes are read before it returns. Rejects with
   * FencedError, having changed nothing, if `epoch` no longer leads or does not lead all of the jobs. Rejects with
   * another error if it is unknown whether the changes are made; the same changes may then be written again.
   */
  write(epoch: number, changes: readonly JobChange[]): Promise<void>;
  /**
   * Stores what happened while these jobs ran, as texts by job, in place of earlier ones. Jobs that another epoch
   * leads, or that are not there, are left out without an error: a history decides nothing. It is forgotten with its
   * job.
   */
  writeHistories(epoch: number, histories: ReadonlyMap<string, string>): Promise<void>;
  /** The history of a job; undefined if none was stored. */
  history(jobId: string): Promise<string | undefined>;
  /** Waits for running writes. The lease stays as it is. */
  close(): Promise<void>;
}

/** A write was refused, because this process no longer leads. */
export class FencedError extends Error {
  constructor(epoch: number, leader: Leader | undefined) {
    const others = leader
      ? `Another coordinator leads now (epoch ${leader.epoch}, ${leader.holder})`
      : 'This coordinator leads no more';
    super(`${others}; this one had epoch ${epoch}`);
    this.name = 'FencedError';
  }
}
