import { readdirSync, readFileSync } from 'node:fs';

/**
 * Milliseconds of processor time of the living threads of a process so far. The scheduler counts it in nanoseconds; the
 * ticks of /proc/PID/stat are a hundredth of a short job.
 */
export function processMs(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`).map((task) => `/proc/${pid}/task/${task}`);
  return threads.reduce((sum, thread) => sum + nanosecondsOf(thread), 0) / 1e6;
}

/** Nanoseconds of processor time of a thread; 0 if it has ended. */
function nanosecondsOf(thread: string): number {
  try {
    return Number(readFileSync(`${thread}/schedstat`, 'utf8').split(' ')[0]);
  } catch {
    return 0;
  }
}
