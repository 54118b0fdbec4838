import type { FileHandle } from 'node:fs/promises';
import { open } from 'node:fs/promises';
import { type Facts, type Group, groupLength, headBytes, nextMagic, packGroup, readGroup } from './group.ts';

/** A log holds other bytes than were written, or fewer. The message is a sentence. */
export class DamagedLogError extends Error {
  override readonly name = 'DamagedLogError';
}

/** A log of facts in a file, which one process writes, once. */
export class LogWriter {
  readonly #name: string;
  readonly #path: string;
  readonly #file: FileHandle;
  #end = 0;

  /** Begins a log. Rejects where the file exists: a log is never another's. */
  static async create(path: string, name: string): Promise<LogWriter> {
    return new LogWriter(path, name, await open(path, 'wx'));
  }

  private constructor(path: string, name: string, file: FileHandle) {
    this.#path = path;
    this.#name = name;
    this.#file = file;
  }

  /** Bytes that are written and synced. */
  get end(): number {
    return this.#end;
  }

  /**
   * Appends a group and resolves with the log's length once it is synced. After a rejection nothing of the group counts, and the next
   * one takes its place. One call at a time.
   */
  async append(facts: Facts): Promise<number> {
    const pieces = packGroup(this.#name, this.#end, facts);
    try {
      await writeAll(this.#file, pieces, this.#end);
      await this.#file.datasync();
    } catch (error) {
      throw new Error(`The log '${this.#path}' could not be written: ${(error as Error).message}`, { cause: error });
    }
    this.#end += pieces.reduce((sum, { length }) => sum + length, 0);
    return this.#end;
  }

  async close(): Promise<void> {
    await this.#file.close();
  }
}

/** Which bytes of a log to read. */
export interface LogRange {
  /** Where a group begins; absent: 0. */
  from?: number;
  /** Bytes that are known to count; absent: as many as are whole. */
  end?: number;
}

/**
 * The groups of a log, in order. Without `end` a last group that is not whole is left out, because its append never ended; `torn` is
 * called with its offset. Throws DamagedLogError for one that is not whole and has others behind it, or that `end` says counts.
 */
export async function* readLog(
  path: string,
  name: string,
  { from = 0, end }: LogRange = {},
  torn: (offset: number) => void = () => {},
): AsyncGenerator<Group> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    if (end !== undefined && size < end) {
      throw new DamagedLogError(`The log '${path}' has ${size} bytes, but ${end} were written`);
    }
    const last = end ?? size;
    for (let offset = from; offset < last; ) {
      const group = await readAt(file, name, offset, last);
      if (!group) {
        if (end !== undefined || (await hasGroupBehind(file, name, offset, last))) {
          throw new DamagedLogError(`The log '${path}' has changed at byte ${offset} since it was written`);
        }
        return torn(offset);
      }
      yield group;
      offset = group.end;
    }
  } finally {
    await file.close();
  }
}

async function readAt(file: FileHandle, name: string, offset: number, end: number): Promise<Group | undefined> {
  const length = groupLength(await readBytes(file, offset, Math.min(headBytes, end - offset)));
  if (length === undefined || offset + length > end) return undefined;
  return readGroup(name, offset, await readBytes(file, offset, length));
}

/** Bytes that are looked through at once for the beginning of a group. */
const pieceBytes = 2 ** 20;

async function hasGroupBehind(file: FileHandle, name: string, offset: number, end: number): Promise<boolean> {
  for (let from = offset + 1; from < end; from += pieceBytes) {
    // Three bytes more than a piece: a beginning may lie across its end.
    const piece = await readBytes(file, from, Math.min(pieceBytes + 3, end - from));
    for (let at = nextMagic(piece, 0); at >= 0; at = nextMagic(piece, at + 1)) {
      if (await readAt(file, name, from + at, end)) return true;
    }
  }
  return false;
}

/** Fewer where the file ends. */
async function readBytes(file: FileHandle, at: number, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(length);
  let done = 0;
  while (done < length) {
    const { bytesRead } = await file.read(bytes, done, length - done, at + done);
    if (bytesRead === 0) break;
    done += bytesRead;
  }
  return bytes.subarray(0, done);
}

/** Pieces that a system takes in one call, at least. */
const piecesAtOnce = 1024;

async function writeAll(file: FileHandle, pieces: readonly Uint8Array[], from: number): Promise<void> {
  let at = from;
  for (let first = 0; first < pieces.length; first += piecesAtOnce) {
    const left = pieces.slice(first, first + piecesAtOnce);
    while (left.length > 0) {
      let { bytesWritten } = await file.writev(left, at);
      at += bytesWritten;
      while (left.length > 0 && bytesWritten >= left[0]!.length) bytesWritten -= left.shift()!.length;
      if (left.length > 0) left[0] = left[0]!.subarray(bytesWritten);
    }
  }
}
