import type { Dirent } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { hasImageExtension } from './image-extensions.ts';
import { compareNatural } from './natural-order.ts';

export interface FolderEntry {
  /** Path relative to the folder, separated by '/'. */
  name: string;
  /** 0 where it cannot be told. */
  sizeBytes: number;
  /** Meant to be an image, by its extension; also a folder that cannot be listed, which must not pass unnoticed. */
  isImage: boolean;
}

/** Looked up at once. */
const batchEntries = 64;

/**
 * Every file below a folder, in natural order and depth first. Hidden files and folders are passed over; symbolic links
 * are followed, but a folder that several paths lead to is walked once, where it comes first, so no loop goes on.
 */
export async function* walkFolder(folder: string): AsyncGenerator<FolderEntry> {
  const { dev, ino } = await stat(folder);
  yield* walk(folder, '', new Set([`${dev}:${ino}`]));
}

async function* walk(root: string, prefix: string, walked: Set<string>): AsyncGenerator<FolderEntry> {
  const entries = await readdir(join(root, prefix), { withFileTypes: true }).catch(() => undefined);
  if (!entries) {
    yield { name: prefix || '.', sizeBytes: 0, isImage: true };
    return;
  }
  const visible = entries.filter((entry) => !entry.name.startsWith('.'));
  visible.sort((a, b) => compareNatural(a.name, b.name));
  for (let i = 0; i < visible.length; i += batchEntries) {
    for (const found of await Promise.all(visible.slice(i, i + batchEntries).map((e) => look(root, prefix, e)))) {
      if (found.folderId === undefined) {
        yield found;
      } else if (!walked.has(found.folderId)) {
        walked.add(found.folderId);
        yield* walk(root, found.name, walked);
      }
    }
  }
}

/** `folderId`: for a folder or a link to one, the same whatever path leads to it. */
async function look(root: string, prefix: string, entry: Dirent): Promise<FolderEntry & { folderId?: string }> {
  const name = prefix ? `${prefix}/${entry.name}` : entry.name;
  const isImage = hasImageExtension(entry.name);
  if (entry.isFile() && !isImage) return { name, sizeBytes: 0, isImage };
  // A link to nothing, for one, fails here.
  const stats = await stat(join(root, name)).catch(() => undefined);
  if (stats?.isDirectory()) return { name, sizeBytes: 0, isImage, folderId: `${stats.dev}:${stats.ino}` };
  return { name, sizeBytes: stats?.size ?? 0, isImage };
}
