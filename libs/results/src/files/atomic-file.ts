import { randomUUID } from 'node:crypto';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * A file that appears whole or not at all: it is written under a temporary name in its folder, then renamed to its
 * name. The rename replaces an earlier file.
 */
export class AtomicFile {
  readonly handle: FileHandle;
  /** The path of the file until it is whole. */
  readonly temporary: string;
  readonly #path: string;

  /** Opens the temporary file for writing and reading. The folder must exist. */
  static async create(path: string): Promise<AtomicFile> {
    const temporary = `${path}.${randomUUID()}.tmp`;
    return new AtomicFile(path, temporary, await open(temporary, 'wx+'));
  }

  private constructor(path: string, temporary: string, handle: FileHandle) {
    this.#path = path;
    this.temporary = temporary;
    this.handle = handle;
  }

  /** Makes the content durable, and then its name. Leaves nothing if that fails. */
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

  /** Removes the temporary file. */
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

/** Lines of text are gathered to pieces of this many characters, so that not every line costs a system call. */
const pieceChars = 1 << 16;

/**
 * Writes a file that appears whole or not at all, and is durable then. The folder must exist. `content` may come piece
 * by piece.
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
  // Without `await`, because waiting for each of a million lines takes a second.
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
