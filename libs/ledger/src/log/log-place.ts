import type { Facts, Group, GroupPlace } from './group.ts';

/** A log that one leader writes. */
export interface LogAppender {
  /** Where the next group begins. */
  readonly end: number;
  /**
   * Appends a group, with or without a checkpoint; it is durable when this resolves. After a rejection nothing of it
   * counts, and the next group takes its place. One call at a time.
   */
  append(facts: Facts, hasCheckpoint?: boolean): Promise<GroupPlace>;
  close(): Promise<void>;
}

/** The logs of one job: one for each leader, named by the leader's epoch and written only by that leader. */
export interface LogPlace {
  /** Epochs of the existing logs, in order. */
  epochs(): Promise<number[]>;
  /** Begins the log of an epoch. Rejects if it exists. */
  begin(epoch: number): Promise<LogAppender>;
  /** Goes on, behind that group, with the log of an epoch that this process began. */
  goOn(epoch: number, last: Pick<GroupPlace, 'end' | 'checkpoint'>): Promise<LogAppender>;
  /**
   * The last whole group of a log, or the group that ends at `end`; undefined if the log has no whole group. Rejects
   * with DamagedLogError if no group ends at `end`, or the log is missing. `torn` is called with the offset of an
   * incomplete last group.
   */
  last(epoch: number, end?: number, torn?: (offset: number) => void): Promise<Group | undefined>;
  /**
   * The groups from the one that begins at `from` to the one that ends at `end`. Rejects with DamagedLogError if one is
   * incomplete.
   */
  groups(epoch: number, from: number, end: number): AsyncIterable<Group>;
  /** Reads bytes of a log that existed. Blocks on the disk. Throws DamagedLogError if it is shorter or gone. */
  read(epoch: number, offset: number, length: number): Uint8Array;
  /** The file of a log, for threads that read it. */
  file(epoch: number): string;
}
