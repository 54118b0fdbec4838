import { readFile } from 'node:fs/promises';
import { cpus, loadavg } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';

/** Looks at what else runs, and how far apart: many programs compute by fits and starts, and a plan takes no less than all of them. */
const looks = 6;
const lookEveryMs = 40;

/**
 * How much longer everything takes for what else the machine does: `others` threads that would compute share its `machineCores` with
 * `ownCores` of ours, each of which gets as much as any. At least 1.
 */
export const slowdownBy = (others: number, ownCores: number, machineCores: number): number =>
  Math.max(1, (others + ownCores) / machineCores);

/**
 * How many threads of others would compute on the whole machine; 0 where the system does not say. `ownThreads` are ours meanwhile.
 * Looks a few times, and takes the load of the last minute where that is less: a burst is over soon, and a run of ours that has just
 * ended is in the load still.
 */
export async function othersRunning(
  ownThreads: number,
  look: () => Promise<number | undefined> = runningThreads,
  load = loadavg()[0]!,
): Promise<number> {
  let sum = 0;
  for (let i = 0; i < looks; i++) {
    if (i > 0) await delay(lookEveryMs);
    const running = await look();
    if (running === undefined) return 0;
    sum += Math.max(0, running - ownThreads);
  }
  return Math.min(sum / looks, load);
}

/** Threads that run or would if there were a core, this one among them; only Linux tells. */
async function runningThreads(): Promise<number | undefined> {
  const text = await readFile('/proc/stat', 'utf8').catch(() => '');
  const running = /^procs_running (\d+)$/m.exec(text)?.[1];
  return running === undefined ? undefined : Number(running);
}

export const machineCores = (): number => cpus().length;
