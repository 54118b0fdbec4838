import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';

/** A process as job.json names it. */
export interface HostProcess {
  host: string;
  pid: number;
}

/**
 * Whether another process with that number runs on this host. A process of another host cannot be seen. Our own number
 * is that of an earlier process: callers know what this one does.
 */
export async function isProcessAlive(process: HostProcess | undefined): Promise<boolean> {
  if (!process || process.host !== hostname() || process.pid === globalThis.process.pid) return false;
  try {
    globalThis.process.kill(process.pid, 0);
    return !(await isZombie(process.pid));
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/**
 * Whether the process is a zombie: it has ended, but its parent has not read its status. In a container whose first
 * process never does, zombies stay as long as the container. Works on Linux only.
 */
async function isZombie(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // The state follows the name, which is in parentheses and may hold any character.
  return /^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2));
}
