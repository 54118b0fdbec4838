import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isOwnPath } from './output-entries.ts';

/** A file, folder or link below an output folder. */
export interface FoundEntry {
  /** Below the output folder, with `/`. */
  name: string;
  kind: 'file' | 'folder';
  /** 0 for a folder. */
  bytes: number;
  /** Whether a job writes an entry of that name. */
  isOwn: boolean;
}

/**
 * Everything in an output folder, each folder after what is in it. Folders of somebody else are named, and not entered.
 * Links are not followed.
 */
export async function* walkOutput(path: string, below = ''): AsyncGenerator<FoundEntry> {
  const entries = await readdir(join(path, below), { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    // It may be removed meanwhile.
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const name = below === '' ? entry.name : `${below}/${entry.name}`;
    const isOwn = isOwnPath(name);
    if (entry.isDirectory()) {
      if (isOwn) yield* walkOutput(path, name);
      yield { name, kind: 'folder', bytes: 0, isOwn };
    } else {
      const found = await lstat(join(path, name)).catch(() => undefined);
      if (found) yield { name, kind: 'file', bytes: found.size, isOwn };
    }
  }
}

export interface OutputSize {
  files: number;
  bytes: number;
}

/** How many files a job has in that folder, and how long they are together. */
export async function measureOutput(path: string): Promise<OutputSize> {
  const size: OutputSize = { files: 0, bytes: 0 };
  for await (const { kind, bytes, isOwn } of walkOutput(path)) {
    if (!isOwn || kind !== 'file') continue;
    size.files++;
    size.bytes += bytes;
  }
  return size;
}
