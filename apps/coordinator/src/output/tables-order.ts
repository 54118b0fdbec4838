import type { HistogramShape } from '@halogrid/results/histogram-shape';
import type { CaptureOptions } from '@halogrid/sources/captured';
import type { SettledSources } from '../ledger/ledger.ts';

/** Paths of the tables of a pipeline. */
export interface TablePaths {
  features: string;
  sources: string;
  errors: string;
}

/** What the thread writes. */
export interface TablesTask {
  paths: TablePaths;
  /** Where the tables grow: in a folder that goes with the job, on the same file system. */
  unfinished: TablePaths;
  shape: HistogramShape;
  /** How it is known when sources were captured; absent: by what files state. */
  captured?: CaptureOptions;
}

/** What the thread does next; it is given the next when it has answered. */
export type TablesOrder =
  | ({ kind: 'open' } & TablesTask)
  | ({ kind: 'write' } & Pick<SettledSources, 'runs' | 'file'>)
  | { kind: 'finish'; description: object };
