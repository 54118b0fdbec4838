import type { SettledSources } from '../ledger/ledger.ts';

/** The part of a job's output that is written while results come. */
export interface FeaturesOutput {
  /** The first of the work is given out. */
  start(): void;
  /** More sources may be settled. */
  advance(): void;
  /**
   * All sources are settled, that many, and `descriptions` is what the file of each pipeline says of itself. Resolves when they are
   * written.
   */
  finish(sources: number, descriptions: readonly object[]): Promise<void>;
  /** Stops writing; resolves when nothing is being written any more. May be called again. */
  abort(): Promise<void>;
}

export interface FeaturesEvents {
  /** As the ledger has it, of the job. */
  settled(from: number, atMost: number, part: number): Promise<SettledSources>;
  /** It cannot be written. */
  failed(error: Error): void;
}
