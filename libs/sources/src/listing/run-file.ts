import { randomUUID } from 'node:crypto';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Names in UTF-8, each with a NUL behind it. The names themselves have none. */
export const joinNames = (names: readonly string[]): Buffer => Buffer.from(`${names.join('\0')}\0`);

/** Splits at least one name, as `joinNames` joins them. */
export const splitNames = (bytes: Uint8Array): string[] =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    .toString('utf8', 0, bytes.length - 1)
    .split('\0');

/** Where a run of names lies in the file, in bytes. */
export interface NameRun {
  start: number;
  end: number;
}

/** Bytes of a run that are read at once. */
const readBytes = 2 ** 16;

/** Runs of names in a temporary file, which has no name itself: it is gone when it is closed, or its process ends. */
export class RunFile {
  readonly #file: FileHandle;
  #end = 0;

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  static async create(): Promise<RunFile> {
    const path = join(tmpdir(), `halogrid-names-${randomUUID()}`);
    const file = await open(path, 'wx+', 0o600);
    try {
      await unlink(path);
      return new RunFile(file);
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /** Adds names to the last run of the file, or begins one if `run` is left out. */
  append(names: readonly string[], run?: NameRun): Promise<NameRun> {
    return this.appendBytes(joinNames(names), run);
  }

  /** The same for names that `joinNames` has joined. */
  async appendBytes(bytes: Uint8Array, run: NameRun = { start: this.#end, end: this.#end }): Promise<NameRun> {
    const { bytesWritten } = await this.#file.write(bytes, 0, bytes.length, this.#end);
    if (bytesWritten < bytes.length) throw new Error(`The disk of '${tmpdir()}' is full`);
    this.#end += bytes.length;
    return { start: run.start, end: this.#end };
  }

  /** The names of a run, a few at once, in their order. */
  async *read({ start, end }: NameRun): AsyncGenerator<string[], void, undefined> {
    const buffer = Buffer.allocUnsafe(Math.min(readBytes, end - start));
    for (let at = start; at < end; ) {
      const { bytesRead } = await this.#file.read(buffer, 0, Math.min(buffer.length, end - at), at);
      const length = buffer.lastIndexOf(0, bytesRead - 1);
      if (length < 0) throw new Error('A temporary file of names is damaged');
      yield splitNames(buffer.subarray(0, length + 1));
      at += length + 1;
    }
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}
