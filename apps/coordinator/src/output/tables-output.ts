import type { SettledSources } from '@halogrid/ledger';
import type { SourceSummary } from '@halogrid/results/source-tables';
import type { UntilWritten } from './output-wait.ts';

/** What is known about a pipeline's sources once their tables are written. */
export interface PartSummary extends SourceSummary {
  /** The digest that a job of this pipeline alone would have. */
  digest: string;
}

/** The part of a job's output that is written while results come: a row or a line for each source. */
export interface TablesOutput {
  /** The first shard is leased. */
  start(): void;
  /** More sources may be settled. */
  advance(): void;
  /**
   * All `sources` of the job are settled. `descriptions`: for each pipeline, the description in features.parquet,
   * without the digest. Resolves with a summary for each pipeline when the tables are written.
   */
  finish(sources: number, descriptions: readonly object[]): Promise<PartSummary[]>;
  /** Stops writing; resolves when nothing is being written any more. May be called again. */
  abort(): Promise<void>;
}

export interface TablesEvents {
  /** As Ledger.logEpochOf, for the job. */
  epoch: number;
  /** As Ledger.settled, for the job. */
  settled(from: number, atMost: number): Promise<SettledSources>;
  /** The tables cannot be written. */
  failed(error: Error): void;
  /** Repeats writing the tables until it succeeds. */
  until: UntilWritten;
}
