import { existsSync, rmSync } from 'node:fs';
import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ByteRange, RangeSet } from './byte-ranges.ts';

/** An open file has a path here, even if it was removed. */
const openFiles = '/proc/self/fd';

/** Folders to remove when the process ends, on systems where open files need a name. */
let left: Set<string> | undefined;

/**
 * A temporary file that holds parts of another one, each at its place; everything else reads as zeros and takes no
 * room. On Linux it has no name from the start, so it is gone with the process, however that ends.
 */
export class SparseCopy {
  /** A path by which other code can open it. */
  readonly path: string;
  readonly #handle: FileHandle;
  readonly #folder: string | undefined;
  readonly #present = new RangeSet();

  private constructor(handle: FileHandle, path: string, folder: string | undefined) {
    this.#handle = handle;
    this.path = path;
    this.#folder = folder;
  }

  static async create(sizeBytes: number): Promise<SparseCopy> {
    const folder = await mkdtemp(join(tmpdir(), 'halogrid-'));
    const path = join(folder, 'copy');
    let handle: FileHandle | undefined;
    try {
      handle = await open(path, 'wx+', 0o600);
      await handle.truncate(sizeBytes);
    } catch (error) {
      await handle?.close();
      await rm(folder, { recursive: true, force: true });
      throw error;
    }
    if (!existsSync(openFiles)) {
      removedAtExit().add(folder);
      return new SparseCopy(handle, path, folder);
    }
    await rm(folder, { recursive: true });
    return new SparseCopy(handle, join(openFiles, String(handle.fd)), undefined);
  }

  /** The parts of the range that are missing yet. */
  missing(range: ByteRange): ByteRange[] {
    return this.#present.missing(range);
  }

  async write(bytes: Uint8Array, position: number): Promise<void> {
    for (let done = 0; done < bytes.length; ) {
      done += (await this.#handle.write(bytes, done, bytes.length - done, position + done)).bytesWritten;
    }
    this.#present.add({ start: position, end: position + bytes.length });
  }

  /** Fills `into` from bytes that are there. */
  async read(into: Uint8Array, position: number): Promise<void> {
    for (let done = 0; done < into.length; ) {
      const length = Math.min(into.length - done, 2 ** 30);
      const { bytesRead } = await this.#handle.read(into, done, length, position + done);
      if (bytesRead === 0) throw new Error(`The temporary file ends at byte ${position + done}`);
      done += bytesRead;
    }
  }

  async close(): Promise<void> {
    await this.#handle.close();
    if (!this.#folder) return;
    await rm(this.#folder, { recursive: true, force: true });
    removedAtExit().delete(this.#folder);
  }
}

function removedAtExit(): Set<string> {
  if (left) return left;
  const folders = new Set<string>();
  process.once('exit', () => {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  });
  left = folders;
  return folders;
}
