import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Whether nodes have written results of a running job into its output folder, so that some shards are done. */
export function hasChunks(out: string): boolean {
  try {
    return readdirSync(join(out, '.halogrid', 'map'), { recursive: true }).some((name) => String(name).endsWith('.u8'));
  } catch {
    return false;
  }
}

/** Whether the log in the output folder of a running job has done shards, so that the next run continues after them. */
export function hasResults(out: string): boolean {
  const folder = join(out, '.halogrid');
  try {
    const logs = readdirSync(folder).filter((name) => name.startsWith('log-'));
    return logs.some((name) => /"kind":"(answer|tile)","shard":/.test(readFileSync(join(folder, name), 'latin1')));
  } catch {
    return false;
  }
}
