import { readFileSync } from 'node:fs';

// Kept here, because tests replace the global functions with mock timers.
const { setInterval, clearInterval } = globalThis;

const periodMs = 20;

/**
 * Stops a process, as SIGSTOP does, until the returned function is called, or until it ends. Something else may wake it
 * meanwhile, such as a tool that stops processes for a while: it runs for 20 ms then. Throws if there is no such
 * process.
 */
export function standStill(pid: number): () => void {
  process.kill(pid, 'SIGSTOP');
  const again = setInterval(() => {
    if (!signal(pid, 'SIGSTOP')) clearInterval(again);
  }, periodMs);
  again.unref();
  return () => {
    clearInterval(again);
    signal(pid, 'SIGCONT');
  };
}

/** Whether the process is there and stands still, as /proc of Linux says. */
export function isStopped(pid: number): boolean {
  try {
    return /^State:\s*T/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

/** Whether the process is still there. */
function signal(pid: number, name: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    return false;
  }
}
