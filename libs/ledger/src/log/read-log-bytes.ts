// Reads bytes of a log. Blocks on the disk.
import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs';
import { dirname } from 'node:path';
import { DamagedLogError } from './log-file.ts';

/** Bytes of the log at `path` from `offset` on. Throws DamagedLogError if it has fewer, or is not in its folder. */
export function readLogBytes(path: string, offset: number, length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length);
  const file = openThere(path);
  try {
    fillFrom({ path, file }, bytes, offset);
  } finally {
    closeSync(file);
  }
  return bytes;
}

function openThere(path: string): number {
  try {
    return openSync(path, 'r');
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    throw isMissing && existsSync(dirname(path)) ? DamagedLogError.gone(path) : error;
  }
}

/** Fills `target` with the bytes of an open log from `at` on. Throws DamagedLogError if it has fewer. */
export function fillFrom({ path, file }: { path: string; file: number }, target: Uint8Array, at: number): void {
  for (let done = 0; done < target.length; ) {
    const read = readSync(file, target, done, target.length - done, at + done);
    if (read === 0) throw DamagedLogError.short(path, fstatSync(file).size, at + target.length);
    done += read;
  }
}
