import type { CudaQuery } from '../cuda/cuda-programs.ts';
import { type Derived, speedUp, withoutTime } from './report.ts';

// The sequential loop of a report in one thread, which the CUDA programs have, too.

const name = 'plain_loop';
/** The column of its times. */
export const plainLoop = `cuda_${name}`;

/** A query for the loop, among the other ways of the CUDA programs. */
export const withPlainLoop = (query: CudaQuery): Record<string, CudaQuery> => ({
  [name]: { name: 'cpu', threads: 1, ...query },
});

/** Columns that say how many times as fast as the loop others are. */
export const overPlainLoop = (...columns: string[]): Derived[] => columns.map((column) => speedUp(column, plainLoop));

/** How many times as fast as a thread, and as the loop, CUDA is. Only rows about CUDA alone have it: without `time`. */
export const speedUpsOfCuda = (time: string): Derived[] =>
  [speedUp('cuda', 'cpu'), ...overPlainLoop('cuda')].map((derived) => withoutTime(time, derived));
