import { readdirSync, readFileSync } from 'node:fs';

/** A process of a program under test. */
export interface ProcessInfo {
  pid: number;
  /** What it is: `launcher`, or the command that it runs, e.g. `run`, `coordinator`, `node`. */
  role: string;
}

/** Whether this machine lists its processes in /proc, as Linux does; tests that look at processes need it. */
export const hasProc = process.platform === 'linux';

/**
 * Processes whose environment holds `setting` (NAME=value): a program and all that it started, also those whose parent is
 * gone. Ended ones that nobody has waited for are left out.
 */
export function processesWith(setting: string): ProcessInfo[] {
  const found: ProcessInfo[] = [];
  for (const name of hasProc ? readdirSync('/proc') : []) {
    const pid = Number(name);
    if (!pid || !readProc(pid, 'environ').split('\0').includes(setting)) continue;
    found.push({ pid, role: roleOf(readProc(pid, 'cmdline').split('\0')) });
  }
  return found;
}

/** The most memory that the process has had resident so far; undefined when it has ended. */
export const peakResidentBytes = (pid: number): number | undefined => statusBytes(pid, 'VmHWM');

/** The memory that the process has resident now; undefined when it has ended. */
export const residentBytes = (pid: number): number | undefined => statusBytes(pid, 'VmRSS');

/** Processor time of the process so far, of all its threads; undefined when it has ended. */
export function cpuSeconds(pid: number): number | undefined {
  // User and system time, in ticks of which Linux has 100 a second; the name before them may hold anything but ends in the last ')'.
  const [user, system] = readProc(pid, 'stat').split(') ').at(-1)!.split(' ').slice(11, 13).map(Number);
  return user === undefined || system === undefined ? undefined : (user + system) / 100;
}

function statusBytes(pid: number, name: string): number | undefined {
  const kibibytes = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(readProc(pid, 'status'))?.[1];
  return kibibytes === undefined ? undefined : Number(kibibytes) * 1024;
}

function roleOf(words: string[]): string {
  if (words.some((word) => word.endsWith('bin/halogrid.mjs'))) return 'launcher';
  const main = words.findIndex((word) => word.endsWith('src/main.ts'));
  return (main >= 0 && words[main + 1]) || (words[0] ?? '');
}

/** Empty for a process that is gone or not ours. */
function readProc(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}
