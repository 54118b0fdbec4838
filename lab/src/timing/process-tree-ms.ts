import { readdirSync, readFileSync } from 'node:fs';

/** Milliseconds of a tick, the unit of times in /proc: Linux has a hundred a second. */
const tickMs = 10;

interface Times {
  parent: number;
  /** Processor time in ticks: of the process, and of all children that it has waited for. */
  ticks: number;
}

/**
 * Milliseconds of processor time that this process and all its descendants have taken so far, ended ones included. It
 * is the cost of work, however busy other programs keep the machine. Undefined on systems other than Linux.
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
    // The name of the process may have any character, and ends at the last ')'. Behind it are: state, parent, …, utime,
    // stime, cutime, cstime.
    const fields = readFileSync(file, 'utf8').split(') ').at(-1)!.split(' ').map(Number);
    return { parent: fields[1]!, ticks: fields.slice(11, 15).reduce((sum, each) => sum + each, 0) };
  } catch {
    return undefined;
  }
}
