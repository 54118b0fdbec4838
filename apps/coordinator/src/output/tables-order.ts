import type { FileLimits } from '@halogrid/results/features';
import type { PartPipeline } from '@halogrid/results/part-writer';
import type { RangeTables } from '@halogrid/results/range-tables';
import { listNames } from '@halogrid/results/source-list';
import type { WrittenSources } from '@halogrid/results/source-tables';
import type { CaptureOptions } from '@halogrid/sources/captured';
import type { RangePiece } from './cut-ranges.ts';
import type { LostPart } from './lost-part-error.ts';
import type { PartSummary } from './tables-output.ts';

/** Paths of the tables of a pipeline. */
export interface TablePaths {
  features: string;
  /** The list of sources: as lines or, for very many, as rows. */
  sources: string;
  rows: string;
  errors: string;
}

/** The paths of the tables, from the path of each file name. */
export const tablePaths = (pathOf: (file: string) => string): TablePaths => ({
  features: pathOf('features.parquet'),
  sources: pathOf(listNames.lines),
  rows: pathOf(listNames.rows),
  errors: pathOf('errors.jsonl'),
});

/** The tables of a pipeline. */
export interface PipelineTables extends PartPipeline {
  paths: TablePaths;
  /** Where the tables grow, below `growing`. */
  unfinished: TablePaths;
  /** The first line of the pipeline's digest, as jobLine writes it. */
  line: string;
}

/** The input of a job's tables. */
export interface TablesInput {
  /** The folder of the job's parts: a path. */
  parts: string;
  pipelines: readonly PartPipeline[];
  /** Where capture times come from; by default from the files. */
  captured?: CaptureOptions;
}

/** The tables of a job. */
export interface TablesTask extends TablesInput {
  /**
   * The folder in which the tables grow: a path on the file system of the tables. It is created, and remains of an
   * earlier writer in it are removed.
   */
  growing: string;
  pipelines: readonly PipelineTables[];
  /** The most counts in a file and lines in a list; by default as in docs/outputs.md. */
  limits?: FileLimits & { lines: number };
}

/**
 * An order to a thread. A reading thread gets `begin`, then `read` for each piece of its ranges, then `end`. The
 * writing thread also gets `open`, then `write` for each piece in order, then `finish`.
 */
export type TablesOrder =
  | ({ kind: 'begin' } & TablesInput)
  /** `entries`: how many entries of job.json are known to come before the piece. */
  | ({ kind: 'read'; entries: number } & RangePiece)
  /** Makes row groups of lines: sources `from` to `to` of each pipeline's list. */
  | { kind: 'list'; lists: string[]; from: number; to: number }
  | { kind: 'end' }
  | ({ kind: 'open' } & Pick<TablesTask, 'growing' | 'pipelines' | 'limits'>)
  /** The tables of a piece, for each pipeline. */
  | { kind: 'write'; tables: RangeTables[] }
  /** A description for each pipeline. */
  | { kind: 'finish'; sources: number; descriptions: readonly object[] };

export type TablesAnswer =
  | { kind: 'read'; tables: RangeTables[] }
  | { kind: 'lost'; lost: LostPart }
  /** What is written so far, for each pipeline. */
  | { kind: 'written'; written: WrittenSources[] }
  | { kind: 'finished'; summaries: PartSummary[] }
  | undefined;
