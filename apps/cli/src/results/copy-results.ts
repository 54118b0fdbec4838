import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { readdir, rename, rm, rmdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ResultFile, ResultFiles } from '@halogrid/client';
import { makeFolders, UsageError } from '@halogrid/service';

/** Files that are copied at the same time, so that small ones do not wait for a round trip each. */
const lanes = 4;

/**
 * Copies all results into a folder that is missing or empty, and resolves with their number. The folder gets all of
 * them or none. Rejects with UsageError if it is not empty.
 */
export async function copyResults(source: Pick<ResultFiles, 'list' | 'open'>, folder: string): Promise<number> {
  const target = resolve(folder);
  await requireFree(target);
  const files = await source.list();
  for (const { name } of files) requireInside(name);
  const unfinished = `${target}.${randomUUID()}`;
  try {
    await makeFolders(unfinished);
    const left = files.values();
    // All lanes share this iterator: each takes the next file.
    await Promise.all(
      Array.from({ length: lanes }, async () => {
        for (const file of left) await copyFile(source, file, unfinished);
      }),
    );
    await rmdir(target).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw notFree(target);
    });
    await rename(unfinished, target);
  } finally {
    await rm(unfinished, { recursive: true, force: true, maxRetries: 3 });
  }
  return files.length;
}

async function copyFile(source: Pick<ResultFiles, 'open'>, { name, bytes }: ResultFile, folder: string): Promise<void> {
  const path = join(folder, name);
  await makeFolders(dirname(path));
  let copied = 0;
  const count = new Transform({
    transform(chunk: Buffer, _, done) {
      copied += chunk.length;
      done(null, chunk);
    },
  });
  await pipeline(Readable.fromWeb(await source.open(name)), count, createWriteStream(path, { flags: 'wx' }));
  if (copied !== bytes) throw new Error(`Expected ${bytes} bytes of '${name}' but received ${copied}: copy it again`);
}

async function requireFree(folder: string): Promise<void> {
  const entries = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    if (error.code === 'ENOTDIR') throw new UsageError(`Expected a folder for --out but '${folder}' is a file`);
    throw error;
  });
  if (entries.length > 0) throw notFree(folder);
}

const notFree = (folder: string): UsageError =>
  new UsageError(`Expected a missing or an empty folder for --out but '${folder}' is not empty`);

/** Throws if a name leads out of the folder: names come from a server. */
function requireInside(name: string): void {
  const isInside = name
    .split('/')
    .every((part) => part !== '' && part !== '.' && part !== '..' && !/[\\\0]/.test(part));
  if (!isInside) throw new Error(`The coordinator names a result '${name}', which is not a path inside a folder`);
}
