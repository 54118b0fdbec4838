import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { aborted, shutdownSignal } from '@halogrid/service';

/**
 * Gives `use` a temporary folder, which is removed at its end, and a promise that rejects when the program is asked to
 * stop: what takes long races with it, so that what was started is ended.
 */
export async function inBenchFolder<T>(use: (folder: string, stopped: Promise<never>) => Promise<T>): Promise<T> {
  const signal = shutdownSignal();
  const stopped = aborted(signal).then(() => Promise.reject(new Error(`Stopped by ${signal.reason}`)));
  // Whoever waits for it sees the error; until then it is not an unhandled one.
  stopped.catch(() => {});
  const folder = await mkdtemp(join(tmpdir(), 'halogrid-bench-'));
  try {
    return await use(folder, stopped);
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}
