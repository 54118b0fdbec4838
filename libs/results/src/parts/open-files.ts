import { constants } from 'node:fs';
import { access, type FileHandle, open, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Thrown if a file is missing although the folder above its folder exists, or if something else is at its path. */
export class LostFileError extends Error {
  override readonly name = 'LostFileError';
}

/** Codes of system errors that mean that the file is lost; other codes mean that it cannot be read for now. */
const saysWhatIsThere = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO']);

/** Opens files of a folder for reading, and keeps the most recently read ones open. */
export class OpenFiles {
  readonly #folder: string;
  readonly #most: number;
  /** The open files by path; the most recently requested file is last. */
  readonly #open = new Map<string, FileHandle>();

  constructor(folder: string, most: number) {
    this.#folder = folder;
    this.#most = most;
  }

  /**
   * The file at `path` in the folder. It may be closed after `most` others were requested. Rejects with LostFileError
   * if it is missing, behind a link, or not a file. Otherwise rejects with a system error, also if the folder above the
   * folder is missing.
   */
  async get(path: string): Promise<FileHandle> {
    const file = this.#open.get(path) ?? (await this.#openThere(path));
    this.#open.delete(path);
    this.#open.set(path, file);
    for (const [first, handle] of this.#open) {
      if (this.#open.size <= this.#most) break;
      this.#open.delete(first);
      await handle.close();
    }
    return file;
  }

  /** Closes all files. */
  async close(): Promise<void> {
    const files = [...this.#open.values()];
    this.#open.clear();
    for (const file of files) await file.close();
  }

  async #openThere(path: string): Promise<FileHandle> {
    try {
      return await this.#openFile(path);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (!saysWhatIsThere.has(code!)) throw error;
      await access(dirname(this.#folder));
      throw new LostFileError(message, { cause: error });
    }
  }

  async #openFile(path: string): Promise<FileHandle> {
    const whole = join(this.#folder, path);
    if ((await realpath(whole)) !== join(await realpath(this.#folder), path)) {
      throw new LostFileError(`there is a link on the way to '${whole}'`);
    }
    // The flags: neither follow a link nor wait for the writer of a pipe.
    const file = await open(whole, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    if ((await file.stat()).isFile()) return file;
    await file.close();
    throw new LostFileError(`'${whole}' is not a file`);
  }
}
