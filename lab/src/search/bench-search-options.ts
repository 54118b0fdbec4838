import type { ScanKind } from '@halogrid/gpu-node/search';

export interface BenchSearchOptions {
  /** Frames of the index. */
  frames: number;
  kernel: 'lbp' | 'ldp';
  /** Searches of each kind. */
  repetitions: number;
  /** Queries that are searched for at once, besides one. */
  queries: number;
  device: ScanKind;
  /** Whether the index is made without features of a job. */
  direct: boolean;
}
