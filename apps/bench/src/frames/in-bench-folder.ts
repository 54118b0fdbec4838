import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { aborted, shutdownSignal } from '@halogrid/service';

/**
 * Calls `use` with a temporary folder, which is removed at its end, and a promise that rejects when the program is
 * asked to stop. Long work races with that promise, so that `use` can end what it has started.
 */
export async function inBenchFolder<T>(use: (folder: string, stopped: Promise<never>) => Promise<T>): Promise<T> {
  const signal = shutdownSignal();
  const stopped = aborted(signal).then(() => Promise.reject(new Error(`Stopped by ${signal.reason}`)));
  // A caller that races with it sees the error. Without a race it is not unhandled.
  stopped.catch(() => {});
  const folder = await mkdtemp(join(tmpdir(), 'halogrid-bench-'));
  try {
    return await use(folder, stopped);
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}
