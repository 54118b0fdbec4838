import type { CudaQuery } from '../cuda/cuda-programs.ts';
import { type Derived, speedUp, withoutTime } from './report.ts';

// The sequential loop of a report in one thread, as the CUDA programs have it.

const name = 'plain_loop';
/** The column of its times. */
export const plainLoop = `cuda_${name}`;

/** The loop of a size among the other ways of the CUDA programs. */
export const withPlainLoop = (query: CudaQuery): Record<string, CudaQuery> => ({
  [name]: { name: 'cpu', threads: 1, ...query },
});

/** How many times as fast as the loop each of some columns is. */
export const overPlainLoop = (...columns: string[]): Derived[] => columns.map((column) => speedUp(column, plainLoop));

/** How many times as fast as a thread and as the loop CUDA is, in rows without `time`: rows about CUDA alone. */
export const speedUpsOfCuda = (time: string): Derived[] =>
  [speedUp('cuda', 'cpu'), ...overPlainLoop('cuda')].map((derived) => withoutTime(time, derived));
