import { randomUUID } from 'node:crypto';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

/** A file that is there whole or not at all: written under a temporary name in its folder, then renamed over what was there. */
export class AtomicFile {
  readonly handle: FileHandle;
  /** Where it grows. */
  readonly temporary: string;
  readonly #path: string;

  /** The folder must exist. What was written may be read as well. */
  static async create(path: string): Promise<AtomicFile> {
    const temporary = `${path}.${randomUUID()}.tmp`;
    return new AtomicFile(path, temporary, await open(temporary, 'wx+'));
  }

  private constructor(path: string, temporary: string, handle: FileHandle) {
    this.#path = path;
    this.temporary = temporary;
    this.handle = handle;
  }

  /** Makes the content durable, and then its name. Leaves nothing where that fails. */
  async commit(): Promise<void> {
    try {
      await this.handle.sync();
      await this.handle.close();
      await rename(this.temporary, this.#path);
    } catch (error) {
      await this.abort();
      throw error;
    }
    await syncFolder(dirname(this.#path));
  }

  /** Removes what was written so far. */
  async abort(): Promise<void> {
    // Closing twice does nothing, and a handle that cannot be closed must not keep the file.
    await this.handle.close().catch(() => {});
    await rm(this.temporary, { force: true });
  }
}

/** Makes the names in a folder durable. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** Text is gathered to pieces of this size before it is written, so that a line at a time costs no system call each. */
const pieceChars = 1 << 16;

/**
 * Writes a file that is there whole or not at all, and stays so when the machine stops. The folder must exist. `content`
 * may be produced piece by piece.
 */
export async function writeFileAtomically(
  path: string,
  content: string | Uint8Array | Iterable<string> | AsyncIterable<string>,
): Promise<void> {
  const file = await AtomicFile.create(path);
  try {
    await writeAll(file.handle, content);
  } catch (error) {
    await file.abort();
    throw error;
  }
  await file.commit();
}

async function writeAll(
  file: FileHandle,
  content: string | Uint8Array | Iterable<string> | AsyncIterable<string>,
): Promise<void> {
  if (typeof content === 'string' || content instanceof Uint8Array) return file.writeFile(content);
  let piece = '';
  // Waiting for each of a million lines takes a second, where they need not be waited for.
  if (Symbol.iterator in content) {
    for (const text of content) {
      piece += text;
      if (piece.length < pieceChars) continue;
      await file.writeFile(piece);
      piece = '';
    }
  } else {
    for await (const text of content) {
      piece += text;
      if (piece.length < pieceChars) continue;
      await file.writeFile(piece);
      piece = '';
    }
  }
  await file.writeFile(piece);
}
