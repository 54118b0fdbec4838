import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isOwnPath, removedName } from './output-entries.ts';
import { readOutput, type StoredOutput } from './stored-output.ts';

/** What is found below a folder. */
export type Found =
  | { kind: 'output'; output: StoredOutput }
  /** A folder with a manifest.json, which may be an index. */
  | { kind: 'manifest'; path: string }
  /** A folder or job.json that cannot be read; `why` is the error of the system. */
  | { kind: 'unreadable'; path: string; why: string };

/**
 * All outputs in a folder and below it, at most `depth` folders down, in the order of their paths. Links and hidden
 * folders are not followed.
 */
export async function* findOutputs(path: string, depth = Number.POSITIVE_INFINITY): AsyncGenerator<Found> {
  let entries: { name: string; isDirectory(): boolean }[];
  let output: StoredOutput | undefined;
  try {
    entries = await readdir(path, { withFileTypes: true });
    const names = entries.map(({ name }) => name);
    if (names.some((name) => name === 'job.json' || name === removedName || name.startsWith('.job.json.'))) {
      output = await readOutput(path);
    }
  } catch (error) {
    // It may be removed meanwhile.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') {
      yield { kind: 'unreadable', path, why: (error as Error).message };
    }
    return;
  }
  if (output) yield { kind: 'output', output };
  else if (entries.some(({ name }) => name === 'manifest.json')) yield { kind: 'manifest', path };
  if (depth === 0) return;
  const folders = entries.filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'));
  for (const { name } of folders.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    // An output may be in a folder inside of another one.
    if (!output || !isOwnPath(name)) yield* findOutputs(join(path, name), depth - 1);
  }
}
