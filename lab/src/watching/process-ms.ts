import { readdirSync, readFileSync } from 'node:fs';

/**
 * Milliseconds of processors that the threads of a process have taken so far, without those that have ended. As the
 * scheduler counts it, in nanoseconds: ticks of /proc/PID/stat are a hundredth of a short job.
 */
export function processMs(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`).map((task) => `/proc/${pid}/task/${task}`);
  return threads.reduce((sum, thread) => sum + nanosecondsOf(thread), 0) / 1e6;
}

/** 0 for a thread that has ended since. */
function nanosecondsOf(thread: string): number {
  try {
    return Number(readFileSync(`${thread}/schedstat`, 'utf8').split(' ')[0]);
  } catch {
    return 0;
  }
}
