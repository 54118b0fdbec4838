import { createHash, randomUUID } from 'node:crypto';
import { access, mkdir, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { writeFileAtomically } from '@halogrid/results/write-file-atomically';
import { InputError } from '@halogrid/sources';
import { OutputError } from './shard-run.ts';

/** By path: copies that are being written, and what was found wrong with sources while they were. */
const underWay = new Map<string, Promise<void>>();

export interface TiledCopy {
  uri: string;
  /** What was left out of the source's file, a sentence; absent where nothing was. */
  mended: string | undefined;
}

/**
 * A tiled copy of a source in a job's scratch folder, written by `write` unless it is there. What `write` resolves to
 * is kept as a text beside the copy, for those that find it. `version` names the source as it is now. Callers of this
 * process share one writing. Nodes that share the folder share the copy, too; those that begin before it is there write
 * one each under a name of its own, and each takes its place when it is complete, so that nobody ever reads a part.
 * Rejects with InputError as `write` does, and with OutputError where it cannot be kept.
 */
export async function tiledCopy(
  scratch: string,
  source: number,
  version: string,
  write: (path: string) => Promise<string | undefined>,
): Promise<TiledCopy> {
  const name = `${source}-${createHash('sha256').update(version).digest('hex').slice(0, 16)}.tif`;
  const path = join(fileURLToPath(scratch), 'copy', name);
  let copying = underWay.get(path);
  if (!copying && !(await isThere(path))) {
    copying = underWay.get(path) ?? writeWhole(path, write);
    underWay.set(path, copying);
  }
  try {
    await copying;
  } catch (error) {
    if (error instanceof InputError) throw error;
    underWay.delete(path);
    throw new OutputError(error);
  }
  underWay.delete(path);
  return { uri: pathToFileURL(path).href, mended: await readText(textBeside(path)) };
}

const textBeside = (path: string): string => `${path}.txt`;

/** Undefined where there is no such file. */
function readText(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw new OutputError(error);
  });
}

async function writeWhole(path: string, write: (path: string) => Promise<string | undefined>): Promise<void> {
  const temporary = `${path}.${randomUUID()}.tmp`;
  try {
    await mkdir(dirname(path), { recursive: true });
    const mended = await write(temporary);
    // All who write it find the same, and it is there before the copy is.
    if (mended !== undefined) await writeFileAtomically(textBeside(path), mended);
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
