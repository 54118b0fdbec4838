import { createHash, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { access, mkdir, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { writeFileAtomically } from '@halogrid/results/write-file-atomically';
import { InputError } from '@halogrid/sources';
import { OutputError } from '../parts/output-error.ts';

/** By path: copies that are being written, and faults of their sources found meanwhile. */
const underWay = new Map<string, Promise<void>>();

export interface TiledCopy {
  uri: string;
  /** A sentence that says what was removed from the source's file; absent if nothing was. */
  mended: string | undefined;
}

/**
 * A tiled copy of a source in a job's scratch folder, or in a folder of the node if it does not see that. It is written
 * by `write` if it does not exist. The result of `write` is kept as a text beside the copy, for callers that find the
 * copy. `version` names the current version of the source.
 * Callers in this process share one `write`, and nodes that share the folder share the copy. Nodes that begin before
 * the copy exists each write one under a separate name, and move it into place when it is complete, so a partial copy
 * is never read. Rejects with InputError as `write` does, and with OutputError if the copy cannot be kept.
 */
export async function tiledCopy(
  scratch: string,
  source: number,
  version: string,
  write: (path: string) => Promise<string | undefined>,
): Promise<TiledCopy> {
  const name = `${source}-${createHash('sha256').update(version).digest('hex').slice(0, 16)}.tif`;
  const path = join(scratch.startsWith('file:') ? join(fileURLToPath(scratch), 'copy') : ownCopies(scratch), name);
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

let temporary: string | undefined;

/** The folder for copies of a job whose scratch folder the node does not see. It is removed when the process ends. */
function ownCopies(scratch: string): string {
  if (temporary === undefined) {
    const made = mkdtempSync(join(tmpdir(), 'halogrid-copies-'));
    process.once('exit', () => rmSync(made, { recursive: true, force: true }));
    temporary = made;
  }
  return join(temporary, createHash('sha256').update(scratch).digest('hex').slice(0, 16));
}

const textBeside = (path: string): string => `${path}.txt`;

/** Undefined if the file does not exist. */
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
    // All writers find the same text. It is written before the copy, so a copy always has its text.
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
