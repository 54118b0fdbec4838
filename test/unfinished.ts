import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Whether nodes have put results of a job that runs into its output folder: some shards are done. */
export function hasChunks(out: string): boolean {
  try {
    return readdirSync(join(out, '.halogrid', 'map'), { recursive: true }).some((name) => String(name).endsWith('.u8'));
  } catch {
    return false;
  }
}

/**
 * Whether a log in the output folder of a job that runs says of some shards that they are done: the next run goes on
 * after them.
 */
export function hasResults(out: string): boolean {
  const folder = join(out, '.halogrid');
  try {
    const logs = readdirSync(folder).filter((name) => name.startsWith('log-'));
    return logs.some((name) => /"kind":"(answer|tile)","shard":/.test(readFileSync(join(folder, name), 'latin1')));
  } catch {
    return false;
  }
}
