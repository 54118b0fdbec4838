import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Whether nodes have put results of a job that runs into its output folder: some shards are done. */
export function hasChunks(out: string): boolean {
  try {
    return readdirSync(join(out, '.halogrid', 'map'), { recursive: true }).some((name) => String(name).endsWith('.u8'));
  } catch {
    return false;
  }
}
