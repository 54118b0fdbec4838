import { constants } from 'node:fs';
import { type FileHandle, open, realpath } from 'node:fs/promises';
import { join } from 'node:path';

/** Opens files of a folder to read them, and keeps those open that were read last. */
export class OpenFiles {
  readonly #folder: string;
  readonly #most: number;
  /** By path; the one that was read last is last. */
  readonly #open = new Map<string, FileHandle>();

  constructor(folder: string, most: number) {
    this.#folder = folder;
    this.#most = most;
  }

  /**
   * The file at that path in the folder, which may have been closed after `most` others were asked for. Rejects where
   * it is not there, where a link is on the way to it, or where it is no file.
   */
  async get(path: string): Promise<FileHandle> {
    const file = this.#open.get(path) ?? (await this.#openFile(path));
    this.#open.delete(path);
    this.#open.set(path, file);
    for (const [first, handle] of this.#open) {
      if (this.#open.size <= this.#most) break;
      this.#open.delete(first);
      await handle.close();
    }
    return file;
  }

  /** Closes all. */
  async close(): Promise<void> {
    const files = [...this.#open.values()];
    this.#open.clear();
    for (const file of files) await file.close();
  }

  async #openFile(path: string): Promise<FileHandle> {
    const whole = join(this.#folder, path);
    if ((await realpath(whole)) !== join(await realpath(this.#folder), path)) {
      throw new Error(`there is a link on the way to '${whole}'`);
    }
    // Neither follows a link nor waits for who writes into a pipe.
    const file = await open(whole, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    if ((await file.stat()).isFile()) return file;
    await file.close();
    throw new Error(`'${whole}' is no file`);
  }
}
