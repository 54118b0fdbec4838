import type { JobShares } from '../../registry/job-shares.ts';
import type { Leader } from '../../registry/registry.ts';

export { FencedError, type Leader } from '../../registry/registry.ts';

/** A value of the ledger, and its place. */
export interface Entry {
  jobId: string;
  /** What the value says: a word such as 'job', 'plan', 'shards'. */
  kind: string;
  /** Number of the block or source: a whole number from 0 to 2^53 - 1. */
  key: number;
  /** Opaque to the store. Up to 64 MiB. */
  value: Uint8Array;
}

/** One change of a transaction. */
export type Change =
  /** The value replaces what was in its place; undefined removes it. */
  | (Omit<Entry, 'value'> & { value: Uint8Array | undefined })
  /** Every entry of the job goes. */
  | { jobId: string; kind?: undefined };

/** Which entries are meant: all, those of one job, of one kind, or both. */
export interface EntryFilter {
  jobId?: string;
  kind?: string;
}

/**
 * Keeps the entries of a ledger, and knows nothing of their meaning. Whoever leads writes, everybody reads. Job ids and kinds
 * are printable ASCII.
 *
 * The lease of the leader ends `leaseMs` after its last `acquire` or `renew`, by the store's own clock. That alone stops
 * nobody from writing; a successor does, because its epoch is higher.
 */
export interface LedgerStore {
  /**
   * Present where several lead at the same time, each some of the jobs: then everybody who asks becomes a leader at once, and a
   * leader ends where another takes its jobs.
   */
  readonly shares?: JobShares;
  /** Becomes the leader, with an epoch higher than any before; undefined while another leads. */
  acquire(holder: string, leaseMs: number): Promise<number | undefined>;
  /** Puts the end of the lease off. False where this epoch leads no more: nothing may be written with it, ever. */
  renew(epoch: number, leaseMs: number): Promise<boolean>;
  /** Ends the lease at once, so that a standby need not wait. Without effect where another leads. */
  release(epoch: number): Promise<void>;
  /** Who leads now; undefined when nobody does. */
  leader(): Promise<Leader | undefined>;
  /** In order of jobId, kind and key, a page at a time: what is written meanwhile may be seen or not. */
  entries(of?: EntryFilter): AsyncIterable<Entry>;
  /**
   * Makes all changes, in their order, or none; they are durable when it resolves. The values are read before it returns.
   * Rejects with FencedError, having changed nothing, where `epoch` leads no more; with another error where the store cannot
   * say whether they are made, and the same changes may be written again.
   */
  write(epoch: number, changes: readonly Change[]): Promise<void>;
  /** Waits for what is being written. The lease stays as it is. */
  close(): Promise<void>;
}
