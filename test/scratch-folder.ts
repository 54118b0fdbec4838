import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const folders: string[] = [];

process.once('exit', () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
});

/** An empty folder for one test file, removed when its process ends. */
export function scratchFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'halogrid-test-'));
  folders.push(folder);
  return folder;
}
