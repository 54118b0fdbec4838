import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** Whether nodes have put results of a job that runs into its output folder: some shards are done. */
export function hasChunks(out: string): boolean {
  try {
    return readdirSync(join(out, '.halogrid', 'map'), { recursive: true }).some((name) => String(name).endsWith('.u8'));
  } catch {
    return false;
  }
}

/** Whether the ledger in the output folder of a job that runs says of some shards that they are done: the next run goes on after them. */
export function hasResults(out: string): boolean {
  const path = join(out, '.halogrid', 'ledger.sqlite');
  if (!existsSync(path)) return false;
  try {
    const ledger = new DatabaseSync(path, { readOnly: true });
    try {
      return ledger.prepare("SELECT 1 FROM entries WHERE kind = 'totals'").get() !== undefined;
    } finally {
      ledger.close();
    }
  } catch {
    // It is being made, or belongs to somebody alone for a moment.
    return false;
  }
}
