import type { ScanKind } from '@halogrid/gpu-node/search';

export interface BenchSearchOptions {
  /** Frames of the index. */
  frames: number;
  kernel: 'lbp' | 'ldp';
  /** Searches of each kind. */
  repetitions: number;
  /** Queries in the searches that have several at once; others have one. */
  queries: number;
  device: ScanKind;
  /** Whether the index is written directly, without the features of a job. */
  direct: boolean;
}
