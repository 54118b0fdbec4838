import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { syncFolder, writeFileAtomically } from '@halogrid/results/write-file-atomically';
import { IndexError } from './index-error.ts';
import type { Manifest } from './manifest.ts';
import { manifestText, parseManifest } from './manifest-text.ts';

/*
 * An index is a folder. manifest.json names its segments, whose files are never changed:
 *
 *   write the files of new segments ─ sync ─► write manifest.json under another name ─ sync ─ rename ─►
 *   remove files it does not name
 *
 * A process that dies on the way leaves the earlier index or the new one, and files that the next writer removes.
 */

const manifestName = 'manifest.json';
const segmentPattern = /^segment-\d{6,}\.(rows|bins)$/;

/** The manifest in that folder; undefined if there is none. */
export async function readManifest(folder: string): Promise<Manifest | undefined> {
  const path = join(folder, manifestName);
  const text = await readFile(path, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') return undefined;
    throw new IndexError(`'${path}' cannot be read: ${cause.message}`, { cause });
  });
  return text === undefined ? undefined : parseManifest(text, path);
}

/** Replaces the manifest of the folder, in one step. The files of its segments must be durable already. */
export async function writeManifest(folder: string, manifest: Manifest): Promise<void> {
  await syncFolder(folder);
  await writeFileAtomically(join(folder, manifestName), manifestText(manifest));
}

/**
 * Removes the files of segments that the manifest does not name, and files that were to become a manifest. The caller
 * must hold the lock.
 */
export async function removeUnnamed(folder: string, manifest: Manifest | undefined): Promise<void> {
  const named = new Set(manifest?.segments.map(({ name }) => name));
  for (const file of await readdir(folder)) {
    const isSegment = segmentPattern.test(file) && !named.has(file.slice(0, file.lastIndexOf('.')));
    if (isSegment || (file.startsWith(`${manifestName}.`) && file.endsWith('.tmp')))
      await rm(join(folder, file), { force: true });
  }
}
