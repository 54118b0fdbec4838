import { fstatSync, type Stats } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { getSystemErrorMap } from 'node:util';
import { giveBackBytes, takeBytes } from '../byte-pool.ts';
import { formatOfName, formats } from '../formats.ts';
import { changedInput, InputError } from '../input-error.ts';
import type { TarMember } from '../member-uri.ts';
import { forReading } from './quick-files.ts';

/** Bytes that are read at first of a file that is decoded whole: enough for most video frames. */
const wholeHeadBytes = 2 ** 20;
/**
 * Bytes that are read at first of other files, whose pixels are then read straight to where they are wanted. With a
 * longer head, a raw frame was read one and a half times.
 */
const headBytes = 2 ** 14;

/** Rows that one call reads: Linux takes 1024 buffers, and each row needs another one for the gap behind it. */
const rowsAtOnce = 512;

/** What errors of the file itself mean, if the system's words do not tell enough. */
const reasons: Record<string, string> = {
  ENOENT: 'The file does not exist',
  ENOTDIR: 'A part of the path is not a folder',
  EACCES: 'The file cannot be read: permission denied',
  EPERM: 'The file cannot be read: operation not permitted',
  ELOOP: 'The path goes through too many symbolic links',
  ENAMETOOLONG: 'The path is longer than the file system allows',
  ENXIO: 'Not a file: a socket or a device',
  ERR_INVALID_ARG_VALUE: 'The path holds a null byte',
  EIO: 'The file cannot be read: input/output error',
  ESTALE: 'The file cannot be read: it was replaced on the file server',
};

/** Errors that are not the file's fault. */
const ofProcess = new Set(['EMFILE', 'ENFILE', 'ENOMEM']);

/** A name for a file as it is now, which changes when it is written to. */
export const localVersion = ({ size, mtimeMs }: { size: number; mtimeMs: number }): string => `${size} ${mtimeMs}`;

/** A member that is decoded whole is held in memory. */
const mostWholeMember = 2 ** 30;

/**
 * A regular file, or a member of a tar, open for reading, and its first bytes. The bytes that it gives out are valid
 * until it is closed.
 */
export class LocalFile {
  readonly kind = 'local';
  /**
   * The largest gap between rows that is read with them. A read costs as much as some 10 KiB more of it (measured: 4098
   * columns of a PGM whose rows have 8192 bytes take 17 ms in whole rows and 54 row by row; of 16384, 22 to 74 and 54).
   * A larger gap would take long on a slow disk.
   */
  readonly gapBytes = 2 ** 13;
  readonly path: string;
  readonly sizeBytes: number;
  /** The version when it was opened, for a member the version of its tar; see localVersion. */
  readonly version: string;
  /** The first 16 KiB, 1 MiB of a file that is decoded whole, or all of a smaller file. */
  readonly head: Buffer;
  /** The member of the tar at `path` whose bytes are the file. */
  readonly #member: TarMember | undefined;
  #memory: Buffer<ArrayBuffer>[];
  #handle: FileHandle;
  #closed: Promise<void> | undefined;
  #bytesRead: number;

  private constructor(path: string, handle: FileHandle, head: Buffer<ArrayBuffer>, stat: Stats, member?: TarMember) {
    this.path = path;
    this.#member = member;
    this.#handle = handle;
    this.head = head;
    this.#memory = [head];
    this.sizeBytes = member?.length ?? stat.size;
    this.version = localVersion(stat);
    this.#bytesRead = head.length;
  }

  /** Rejects with InputError unless the path is a readable, regular file that is not empty. Never waits for a FIFO. */
  static async open(path: string, member?: TarMember): Promise<LocalFile> {
    const handle = await open(path, forReading).catch(refuseRead);
    try {
      // The system knows this of an open file at once. Asking on libuv's pool costs 40 µs of this thread, and a wait
      // behind what is decoded (measured).
      const stat = fstatSync(handle.fd);
      if (stat.isDirectory()) throw new InputError('read', 'Not a file: a folder');
      if (stat.isFIFO()) throw new InputError('read', 'Not a file: a named pipe');
      if (!stat.isFile()) throw new InputError('read', 'Not a file: a socket or a device');
      const sizeBytes = member?.length ?? stat.size;
      if (sizeBytes === 0) throw new InputError('decode', 'The file is empty (0 bytes)');
      if (member && member.start + sizeBytes > stat.size) throw changedInput('The tar has become shorter');
      const format = formatOfName(member?.name ?? path);
      const isWhole = format && formats[format].reading === 'whole';
      const head = takeBytes(Math.min(sizeBytes, isWhole ? wholeHeadBytes : headBytes));
      await readFully(handle, head, member?.start ?? 0);
      return new LocalFile(path, handle, head, stat, member);
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /** Bytes read so far. */
  get bytesRead(): number {
    return this.#bytesRead;
  }

  /** Fills `into` from byte `position` of the file. Rejects with InputError if the file ends before that. */
  async read(into: Uint8Array, position: number): Promise<void> {
    if (this.#member && position + into.length > this.sizeBytes) throw truncated(this.sizeBytes);
    await readFully(this.#handle, into, position + (this.#member?.start ?? 0));
    this.#bytesRead += into.length;
  }

  /**
   * Fills each of `rows`, which are equally long and begin `stepBytes` apart in the file, the first at byte `position`;
   * the bytes between two of them, at most `gapBytes`, are read and forgotten. Rejects as `read` does.
   */
  async readRows(rows: readonly Uint8Array[], position: number, stepBytes: number): Promise<void> {
    const rowBytes = rows[0]!.length;
    const gap = new Uint8Array(stepBytes - rowBytes);
    for (let first = 0; first < rows.length; first += rowsAtOnce) {
      const some = rows.slice(first, first + rowsAtOnce);
      const start = position + first * stepBytes;
      const wanted = (some.length - 1) * stepBytes + rowBytes;
      const { bytesRead } = await this.#handle
        .readv(some.flatMap((row) => [row, gap]).slice(0, -1), start + (this.#member?.start ?? 0))
        .catch(refuseRead);
      this.#bytesRead += bytesRead;
      if (bytesRead === wanted) continue;
      // The system may give less than it was asked for.
      for (const [i, row] of some.entries()) await this.read(row, start + i * stepBytes);
    }
  }

  /** All of the file, its head not read again; nothing else may be read afterwards. */
  async readAll(): Promise<Buffer> {
    let bytes = this.head;
    if (this.sizeBytes > this.head.length) {
      const all = takeBytes(this.sizeBytes);
      this.#memory.push(all);
      this.head.copy(all);
      await this.read(all.subarray(this.head.length), this.head.length);
      bytes = all;
    }
    this.#beginClose();
    return bytes;
  }

  /**
   * All of the file for a decoder that reads it whole: its path, or the bytes of a member. Nothing else may be read
   * afterwards.
   */
  async whole(): Promise<string | Buffer> {
    if (this.#member && this.sizeBytes > mostWholeMember) {
      const sentence = `A member of a tar that is decoded whole has ${mostWholeMember} bytes at most: unpack the tar`;
      throw new InputError('decode', sentence);
    }
    if (this.#member) return await this.readAll();
    this.#bytesRead = this.sizeBytes;
    this.#beginClose();
    return this.path;
  }

  /** Call it after the last read has settled. May be called again. */
  close(): Promise<void> {
    for (const bytes of this.#memory.splice(0)) giveBackBytes(bytes);
    return this.#beginClose();
  }

  /**
   * Closes the file early: thousands of frames may wait to be decoded, and a process has few file descriptors. Decoding
   * need not wait until the file is closed, which takes its turn on the same threads.
   */
  #beginClose(): Promise<void> {
    if (!this.#closed) {
      this.#closed = this.#handle.close();
      // `close` gives the failure to its caller.
      this.#closed.catch(() => {});
    }
    return this.#closed;
  }
}

async function readFully(handle: FileHandle, into: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < into.length; ) {
    // One read call takes less than 2 GiB.
    const length = Math.min(into.length - done, 2 ** 30);
    const { bytesRead } = await handle.read(into, done, length, position + done).catch(refuseRead);
    if (bytesRead === 0) {
      throw truncated(position + done);
    }
    done += bytesRead;
  }
}

const truncated = (end: number): InputError =>
  new InputError('decode', `The file is truncated: it ends at byte ${end}, inside the image`);

/** Throws the InputError that a failure to read a file means. */
export function refuseRead(error: NodeJS.ErrnoException): never {
  const { code = '', errno } = error;
  const because = getSystemErrorMap().get(errno ?? 0)?.[1];
  const reason = reasons[code] ?? (because && `The file cannot be read: ${because} (${code})`);
  // A closed descriptor is our own mistake, and so is an error that the system does not have.
  if (!reason || code === 'EBADF') throw error;
  throw new InputError('read', reason, { fault: ofProcess.has(code) ? 'process' : 'access' });
}
