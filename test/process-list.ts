import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** A process of a program under test. */
export interface ProcessInfo {
  pid: number;
  /** Its role: `launcher`, or the command that it runs, e.g. `run`, `coordinator`, `node`. */
  role: string;
}

/** Whether this machine lists its processes in /proc, as Linux does; tests that look at processes need it. */
export const hasProc = process.platform === 'linux';

/**
 * Processes whose environment holds `setting` (NAME=value): a program and all processes that it started, also if their
 * parent is gone. Ended processes that were not waited for are left out.
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

/** The largest resident memory of the process so far, in bytes; undefined if it has ended. */
export const peakResidentBytes = (pid: number): number | undefined => statusBytes(pid, 'VmHWM');

/** The resident memory of the process now, in bytes; undefined if it has ended. */
export const residentBytes = (pid: number): number | undefined => statusBytes(pid, 'VmRSS');

/** Processor time in seconds of all threads of the process so far; undefined if it has ended. */
export function cpuSeconds(pid: number): number | undefined {
  // User and system time, in Linux' ticks of 1/100 s. The process name before them may hold any character, but ends at
  // the last ')'.
  const [user, system] = readProc(pid, 'stat').split(') ').at(-1)!.split(' ').slice(11, 13).map(Number);
  return user === undefined || system === undefined ? undefined : (user + system) / 100;
}

/** The command line of the process, as other users see it. */
export const commandLine = (pid: number): string => readProc(pid, 'cmdline');

/** An environment variable of the process; only the process's user may read it. */
export function settingOf(pid: number, name: string): string | undefined {
  const setting = readProc(pid, 'environ').split('\0');
  return setting.find((one) => one.startsWith(`${name}=`))?.slice(name.length + 1);
}

/** IPv4 ports on which the process listens. */
export function listeningPorts(pid: number): number[] {
  const open = new Set(readdirSync(`/proc/${pid}/fd`).map((fd) => target(`/proc/${pid}/fd/${fd}`)));
  // sl local_address rem_address st tx:rx tr:when retrnsmt uid timeout inode; 0A: it listens.
  const rows = readProc(pid, 'net/tcp')
    .split('\n')
    .map((line) => line.trim().split(/\s+/));
  const listening = rows.filter(([, , , state, , , , , , inode]) => state === '0A' && open.has(`socket:[${inode}]`));
  return listening.map(([, local]) => Number.parseInt(local!.split(':')[1]!, 16));
}

/** The target of a link; empty if the link is gone. */
function target(link: string): string {
  try {
    return readlinkSync(link);
  } catch {
    return '';
  }
}

function statusBytes(pid: number, name: string): number | undefined {
  const kibibytes = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(readProc(pid, 'status'))?.[1];
  return kibibytes === undefined ? undefined : Number(kibibytes) * 1024;
}

function roleOf(words: string[]): string {
  if (words.some((word) => word.endsWith('bin/halogrid.mjs'))) return 'launcher';
  const main = words.findIndex((word) => /(src|program)\/main\.[jt]s$/.test(word));
  return (main >= 0 && words[main + 1]) || (words[0] ?? '');
}

/** The text of a file of the process in /proc; empty if the process is gone or belongs to another user. */
function readProc(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}
