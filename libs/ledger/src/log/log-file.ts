import type { FileHandle } from 'node:fs/promises';
import { open, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { syncFolder } from '@halogrid/results/write-file-atomically';
import {
  type Facts,
  type Group,
  type GroupPlace,
  groupHeadBytes,
  groupLength,
  lastMagic,
  nextMagic,
  packGroup,
  readGroup,
} from './group.ts';
import type { LogAppender } from './log-place.ts';

/** The error if bytes of a log have changed or are missing. The message is a sentence. */
export class DamagedLogError extends Error {
  override readonly name = 'DamagedLogError';

  /** The bytes from `at` on have changed. */
  static changed(path: string, at: number): DamagedLogError {
    return new DamagedLogError(`The log '${path}' has changed at byte ${at} since it was written`);
  }

  /** The log is no longer at its path, though its folder is there. */
  static gone(path: string): DamagedLogError {
    return new DamagedLogError(
      `The log '${path}' was deleted or replaced while in use; the results so far are lost: run the job again`,
    );
  }

  /** The log has fewer bytes than were written. */
  static short(path: string, bytes: number, written: number): DamagedLogError {
    return new DamagedLogError(`The log '${path}' has ${bytes} bytes, but ${written} were written`);
  }
}

/** A file for writing: the calls of node:fs/promises. */
export interface WrittenFile {
  writev(pieces: readonly Uint8Array[], at: number): Promise<{ bytesWritten: number }>;
  datasync(): Promise<void>;
  close(): Promise<void>;
}

/** A disk that logs are written to. */
export interface LogDisk {
  open(path: string, flags: string): Promise<WrittenFile>;
  /** The identity of the file at a path. */
  stat(path: string): Promise<{ dev: bigint; ino: bigint }>;
  /** Makes the names of new files in a folder durable. */
  syncFolder(path: string): Promise<void>;
}

export const realDisk: LogDisk = {
  // A log holds URLs as they were given, with their signatures.
  open: (path, flags) => open(path, flags, 0o600),
  stat: (path) => stat(path, { bigint: true }),
  syncFolder: syncWhereItCan,
};

/** Writes a log of facts to a file. Each log is written by one process only. */
export class LogWriter implements LogAppender {
  readonly #name: string;
  readonly #path: string;
  readonly #file: WrittenFile;
  readonly #disk: LogDisk;
  /** The identity of the file; undefined until the first append has found it at its path and synced its name. */
  #identity: string | undefined;
  #end = 0;
  #checkpoint = 0;

  /** Creates a log. Rejects if the file exists, because each log has one writer. */
  static async create(path: string, name: string, disk = realDisk): Promise<LogWriter> {
    const file = await disk.open(path, 'wx').catch((error: Error) => {
      throw new Error(`The log '${path}' could not be begun: ${error.message}`, { cause: error });
    });
    return new LogWriter(path, name, file, disk);
  }

  /** Goes on with a log that this process has begun, behind that group: bytes behind it were never acknowledged. */
  static async goOn(
    path: string,
    name: string,
    { end, checkpoint }: Pick<GroupPlace, 'end' | 'checkpoint'>,
    disk = realDisk,
  ): Promise<LogWriter> {
    const log = new LogWriter(path, name, await disk.open(path, 'r+'), disk);
    log.#identity = await log.#identityNow();
    log.#end = end;
    log.#checkpoint = checkpoint;
    return log;
  }

  private constructor(path: string, name: string, file: WrittenFile, disk: LogDisk) {
    this.#disk = disk;
    this.#path = path;
    this.#name = name;
    this.#file = file;
  }

  /** Bytes that are written and synced; the next group begins there. */
  get end(): number {
    return this.#end;
  }

  /**
   * Appends a group, with or without a checkpoint in it; resolves with its place once it is synced. After a rejection
   * nothing of the group counts, and the next one takes its place. One call at a time.
   */
  async append(facts: Facts, hasCheckpoint = false): Promise<GroupPlace> {
    const offset = this.#end;
    const checkpoint = hasCheckpoint ? offset : this.#checkpoint;
    const pieces = packGroup(this.#name, { offset, checkpoint }, facts);
    try {
      await writeAll(this.#file, pieces, this.#end);
      await this.#file.datasync();
      await this.#checkThere();
    } catch (error) {
      if (error instanceof DamagedLogError) throw error;
      throw new Error(`The log '${this.#path}' could not be written: ${(error as Error).message}`, { cause: error });
    }
    this.#end += pieces.reduce((sum, { length }) => sum + length, 0);
    this.#checkpoint = checkpoint;
    return { offset, end: this.#end, checkpoint };
  }

  async close(): Promise<void> {
    await this.#file.close();
  }

  /**
   * Writes to a file that was removed are lost. If its folder is missing, it may come back: rejects with the system's
   * error.
   */
  async #checkThere(): Promise<void> {
    const now = await this.#identityNow().catch(async (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
      await this.#disk.stat(dirname(this.#path));
      return undefined;
    });
    if (now !== undefined && this.#identity === undefined) {
      await this.#disk.syncFolder(dirname(this.#path));
      this.#identity = now;
    }
    if (now === undefined || now !== this.#identity) {
      throw DamagedLogError.gone(this.#path);
    }
  }

  async #identityNow(): Promise<string> {
    const { dev, ino } = await this.#disk.stat(this.#path);
    return `${dev} ${ino}`;
  }
}

/**
 * Opens a log for reading. Rejects with DamagedLogError if the log is missing, and with the system's error if its
 * folder is.
 */
async function openLog(path: string): Promise<FileHandle> {
  return open(path, 'r').catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    await stat(dirname(path));
    throw new DamagedLogError(`The log '${path}' is missing`);
  });
}

/**
 * Where reading of a log ends: `end`, or the end of the file. Throws DamagedLogError if the file is shorter than `end`.
 */
async function lastByte(file: FileHandle, path: string, end: number | undefined): Promise<number> {
  const { size } = await file.stat();
  if (end !== undefined && size < end) throw DamagedLogError.short(path, size, end);
  return end ?? size;
}

/** Which bytes of a log to read. */
export interface LogRange {
  /** Where a group begins; absent: 0. */
  from?: number;
  /** Bytes that are known to count; absent: up to the last whole group. */
  end?: number;
}

/**
 * The groups of a log, in order. Without `end`, an incomplete last group is left out, because its append never ended;
 * `torn` is called with its offset. Throws DamagedLogError for an incomplete group before others, or before `end`.
 */
export async function* readLog(
  path: string,
  name: string,
  { from = 0, end }: LogRange = {},
  torn: (offset: number) => void = () => {},
): AsyncGenerator<Group> {
  const file = await openLog(path);
  try {
    const last = await lastByte(file, path, end);
    for (let offset = from; offset < last; ) {
      const group = await readAt(file, name, offset, last);
      if (!group) {
        if (end !== undefined || (await hasGroupBehind(file, name, offset, last))) {
          throw DamagedLogError.changed(path, offset);
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

/**
 * The last whole group; with `end`, the group that ends there. Undefined for a log without a whole group. Searches from
 * the end, which takes the time of reading one group. `torn` is called with the offset of an incomplete group. Throws
 * DamagedLogError if no group ends at `end`.
 */
export async function lastGroup(
  path: string,
  name: string,
  end?: number,
  torn: (offset: number) => void = () => {},
): Promise<Group | undefined> {
  const file = await openLog(path);
  try {
    const last = await lastByte(file, path, end);
    for (let to = last; to > 0; to -= pieceBytes) {
      const from = Math.max(0, to - pieceBytes);
      const piece = await readBytes(file, from, Math.min(to + magicOverlap, last) - from);
      for (let at = lastMagic(piece, to - from - 1); at >= 0; at = lastMagic(piece, at - 1)) {
        const group = await readAt(file, name, from + at, last);
        if (!group || (end !== undefined && group.end !== end)) continue;
        if (group.end < last) torn(group.end);
        return group;
      }
    }
    if (end) throw new DamagedLogError(`The log '${path}' has changed before byte ${end} since it was written`);
    if (last > 0) torn(0);
    return undefined;
  } finally {
    await file.close();
  }
}

async function readAt(file: FileHandle, name: string, offset: number, end: number): Promise<Group | undefined> {
  const length = groupLength(await readBytes(file, offset, Math.min(groupHeadBytes, end - offset)));
  if (length === undefined || offset + length > end) return undefined;
  return readGroup(name, offset, await readBytes(file, offset, length));
}

/** Bytes that are searched at once for the beginning of a group. */
const pieceBytes = 2 ** 20;
/** The magic number of a group may lie across the end of a piece. */
const magicOverlap = 3;

async function hasGroupBehind(file: FileHandle, name: string, offset: number, end: number): Promise<boolean> {
  for (let from = offset + 1; from < end; from += pieceBytes) {
    const piece = await readBytes(file, from, Math.min(pieceBytes + magicOverlap, end - from));
    for (let at = nextMagic(piece, 0); at >= 0; at = nextMagic(piece, at + 1)) {
      if (await readAt(file, name, from + at, end)) return true;
    }
  }
  return false;
}

/** Reads `length` bytes from `at`, or fewer at the end of the file. */
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

/** So many pieces every system takes in one call. */
const piecesAtOnce = 1024;

/** Error codes of file systems that cannot sync a folder, or do it by themselves. */
const cannotSync = new Set(['EINVAL', 'ENOTSUP', 'EISDIR', 'EPERM', 'EBADF']);

async function syncWhereItCan(path: string): Promise<void> {
  await syncFolder(path).catch((error: NodeJS.ErrnoException) => {
    if (error.syscall !== 'fsync' || !cannotSync.has(error.code ?? '')) throw error;
  });
}

async function writeAll(file: WrittenFile, pieces: readonly Uint8Array[], from: number): Promise<void> {
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
