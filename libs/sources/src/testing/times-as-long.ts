import { threadMs } from '@halogrid/testing';

/**
 * How many times as much processor time of this thread `work` takes as `control`. `control` runs before and after it,
 * so other work of the machine hardly changes the result.
 */
export function timesAsLong(work: () => void, control: () => void): number {
  const before = msOf(control);
  const taken = msOf(work);
  return taken / Math.max(before, msOf(control));
}

function msOf(work: () => void): number {
  const before = process.threadCpuUsage();
  work();
  return threadMs(before);
}
