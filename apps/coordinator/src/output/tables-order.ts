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
  /** The list of sources, as lines or, of very many, as rows. */
  sources: string;
  rows: string;
  errors: string;
}

/** The tables in a folder, by what they are called there. */
export const tablePaths = (pathOf: (file: string) => string): TablePaths => ({
  features: pathOf('features.parquet'),
  sources: pathOf(listNames.lines),
  rows: pathOf(listNames.rows),
  errors: pathOf('errors.jsonl'),
});

/** The tables of a pipeline. */
export interface PipelineTables extends PartPipeline {
  paths: TablePaths;
  /** Where the tables grow: in the folder for that. */
  unfinished: TablePaths;
  /** What stands for the job of this pipeline alone in its digest, as jobLine gives it. */
  line: string;
}

/** What the tables of a job are made of. */
export interface TablesInput {
  /** The folder of the job's parts: a path. */
  parts: string;
  pipelines: readonly PartPipeline[];
  /** How it is known when sources were captured; absent: by what files state. */
  captured?: CaptureOptions;
}

/** The tables of a job. */
export interface TablesTask extends TablesInput {
  /**
   * The folder in which the tables grow: a path on the file system of the tables. It is made, and what an earlier writer
   * left there is removed.
   */
  growing: string;
  pipelines: readonly PipelineTables[];
  /** How many counts a file and how many lines a list has at most; as docs/outputs.md says unless given. */
  limits?: FileLimits & { lines: number };
}

/**
 * What a thread does next. Each that reads is told to `begin`, and to `read` ranges, a piece at a time, until the
 * `end`; the one that writes is told to `open` the tables, to `write` each piece in order, and to `finish`.
 */
export type TablesOrder =
  | ({ kind: 'begin' } & TablesInput)
  /** `entries`: those of job.json that are known to be before the piece. */
  | ({ kind: 'read'; entries: number } & RangePiece)
  /** To make row groups of lines: of each pipeline, the list and which of its sources. */
  | { kind: 'list'; lists: string[]; from: number; to: number }
  | { kind: 'end' }
  | ({ kind: 'open' } & Pick<TablesTask, 'growing' | 'pipelines' | 'limits'>)
  /** What was read, one a pipeline. */
  | { kind: 'write'; tables: RangeTables[] }
  /** One description a pipeline. */
  | { kind: 'finish'; sources: number; descriptions: readonly object[] };

export type TablesAnswer =
  | { kind: 'read'; tables: RangeTables[] }
  | { kind: 'lost'; lost: LostPart }
  /** So far, one a pipeline. */
  | { kind: 'written'; written: WrittenSources[] }
  | { kind: 'finished'; summaries: PartSummary[] }
  | undefined;
