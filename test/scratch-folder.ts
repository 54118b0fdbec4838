import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** An empty folder for one test file, removed when its process ends. */
export function scratchFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'halogrid-test-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
  return folder;
}
