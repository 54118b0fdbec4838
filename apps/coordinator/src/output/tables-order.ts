import type { SettledSources } from '@halogrid/ledger';
import type { FileLimits } from '@halogrid/results/features';
import type { PartPipeline } from '@halogrid/results/part-writer';
import { listNames } from '@halogrid/results/source-list';
import type { CaptureOptions } from '@halogrid/sources/captured';
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
  /** Where the tables grow: in a folder that goes with the job, on the same file system. */
  unfinished: TablePaths;
  /** What stands for the job of this pipeline alone in its digest, as jobLine gives it. */
  line: string;
}

/** What the thread writes. */
export interface TablesTask {
  /** The folder of the job's parts: a path. */
  parts: string;
  pipelines: readonly PipelineTables[];
  /** How it is known when sources were captured; absent: by what files state. */
  captured?: CaptureOptions;
  /** How many counts a file and how many lines a list has at most; as docs/outputs.md says unless given. */
  limits?: FileLimits & { lines: number };
}

/** What the thread does next; it is given the next when it has answered. */
export type TablesOrder =
  | ({ kind: 'open' } & TablesTask)
  | ({ kind: 'write' } & Pick<SettledSources, 'runs'>)
  /** One description a pipeline. */
  | { kind: 'finish'; sources: number; descriptions: readonly object[] };

export type TablesAnswer =
  | { kind: 'lost'; lost: LostPart }
  | { kind: 'finished'; summaries: PartSummary[] }
  | undefined;
