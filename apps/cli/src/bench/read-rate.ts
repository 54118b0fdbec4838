import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { poolThreads } from '@halogrid/threads/pool-threads';

/** Files a second that reading every file of a folder once reaches, with two in flight for each thread of libuv's pool. */
export async function measureReadRate(folder: string): Promise<number> {
  const names = await readdir(folder);
  const lanes = 2 * poolThreads();
  let next = 0;
  const readInTurn = async () => {
    while (next < names.length) await readFile(join(folder, names[next++]!));
  };
  const start = performance.now();
  await Promise.all(Array.from({ length: lanes }, readInTurn));
  return names.length / ((performance.now() - start) / 1000);
}
