import type { Facts, Group, GroupPlace } from './group.ts';

/** A log that one leader writes. */
export interface LogAppender {
  /** Where the next group begins. */
  readonly end: number;
  /**
   * Appends a group, with a checkpoint in it or without; it stays there, whatever happens, when this resolves. After a
   * rejection nothing of it counts, and the next one takes its place. One call at a time.
   */
  append(facts: Facts, hasCheckpoint?: boolean): Promise<GroupPlace>;
  close(): Promise<void>;
}

/** Where the logs of one job are: one for each leader, by the leader's epoch, which it alone writes. */
export interface LogPlace {
  /** Epochs of the logs that there are, in order. */
  epochs(): Promise<number[]>;
  /** Begins the log of an epoch. Rejects where there is one. */
  begin(epoch: number): Promise<LogAppender>;
  /** Goes on with the log of an epoch that this process began, behind that group. */
  goOn(epoch: number, last: Pick<GroupPlace, 'end' | 'checkpoint'>): Promise<LogAppender>;
  /**
   * The last group of a log that is whole, or the one that ends at `end`; undefined where there is none. Rejects with
   * DamagedLogError where none ends there, or the log is missing. `torn` is told where a last group begins that is not
   * whole.
   */
  last(epoch: number, end?: number, torn?: (offset: number) => void): Promise<Group | undefined>;
  /**
   * The groups from one that begins at `from` to one that ends at `end`. Rejects with DamagedLogError where one is not
   * whole.
   */
  groups(epoch: number, from: number, end: number): AsyncIterable<Group>;
  /** Bytes of a log that there was. Waits for the disk. Throws DamagedLogError where it ends before or is gone. */
  read(epoch: number, offset: number, length: number): Uint8Array;
  /** The file that a log is in, for threads that read it. */
  file(epoch: number): string;
}
