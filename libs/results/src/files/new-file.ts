import { type FileHandle, open, rm } from 'node:fs/promises';

/** A file of a folder that is not there under its name yet: it needs no other name meanwhile. */
export class NewFile {
  readonly handle: FileHandle;
  readonly #path: string;

  /** The folder must exist, and the file must not. */
  static async create(path: string): Promise<NewFile> {
    return new NewFile(path, await open(path, 'wx'));
  }

  private constructor(path: string, handle: FileHandle) {
    this.#path = path;
    this.handle = handle;
  }

  /** Makes the content durable; its name is with its folder. Leaves nothing where that fails. */
  async commit(): Promise<void> {
    try {
      await this.handle.sync();
      await this.handle.close();
    } catch (error) {
      await this.abort();
      throw error;
    }
  }

  /** Removes what was written so far. */
  async abort(): Promise<void> {
    await this.handle.close().catch(() => {});
    await rm(this.#path, { force: true });
  }
}
