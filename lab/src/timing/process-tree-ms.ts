import { readdirSync, readFileSync } from 'node:fs';

/** Milliseconds of a tick, in which Linux counts the times in /proc: a hundred a second. */
const tickMs = 10;

interface Times {
  parent: number;
  /** Processor time of the process, and of all that it has waited for, in ticks. */
  ticks: number;
}

/**
 * Milliseconds of processors that this process and all that it has started have taken so far, those that have ended
 * included: what work costs, however busy other programs keep the machine. Undefined where the system does not tell,
 * which only Linux does.
 */
export function processTreeMs(own = process.pid, root = '/proc'): number | undefined {
  const all = new Map<number, Times>();
  for (const name of foldersIn(root)) {
    const times = /^\d+$/.test(name) ? timesIn(`${root}/${name}/stat`) : undefined;
    if (times) all.set(Number(name), times);
  }
  if (!all.has(own)) return undefined;
  const isOurs = (pid: number): boolean => {
    for (let at: number | undefined = pid; at; at = all.get(at)?.parent) if (at === own) return true;
    return false;
  };
  let ticks = 0;
  for (const [pid, times] of all) if (isOurs(pid)) ticks += times.ticks;
  return ticks * tickMs;
}

function foldersIn(root: string): string[] {
  try {
    return readdirSync(root);
  } catch {
    return [];
  }
}

/** Undefined for a process that has ended. */
function timesIn(file: string): Times | undefined {
  try {
    // The name before them may hold anything but ends in the last ')': state, parent, …, utime, stime, cutime, cstime.
    const fields = readFileSync(file, 'utf8').split(') ').at(-1)!.split(' ').map(Number);
    return { parent: fields[1]!, ticks: fields.slice(11, 15).reduce((sum, each) => sum + each, 0) };
  } catch {
    return undefined;
  }
}
