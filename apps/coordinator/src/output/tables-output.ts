import type { SettledSources } from '@halogrid/ledger';
import type { SourceSummary } from '@halogrid/results/source-tables';
import type { UntilWritten } from './output-wait.ts';

/** What is known of a pipeline's sources once their tables are written. */
export interface PartSummary extends SourceSummary {
  /** That of a job of this pipeline alone. */
  digest: string;
}

/** The part of a job's output that is written while results come: a row or a line a source. */
export interface TablesOutput {
  /** The first of the work is given out. */
  start(): void;
  /** More sources may be settled. */
  advance(): void;
  /**
   * All sources are settled, that many, and `descriptions` is what features.parquet of each pipeline says of itself
   * beside its digest.
   * Resolves, with a summary a pipeline, when they are written.
   */
  finish(sources: number, descriptions: readonly object[]): Promise<PartSummary[]>;
  /** Stops writing; resolves when nothing is being written any more. May be called again. */
  abort(): Promise<void>;
}

export interface TablesEvents {
  /** As Ledger.logEpochOf, of the job. */
  epoch: number;
  /** As the ledger has it, of the job. */
  settled(from: number, atMost: number): Promise<SettledSources>;
  /** They cannot be written. */
  failed(error: Error): void;
  /** Writes all tables. */
  until: UntilWritten;
}
