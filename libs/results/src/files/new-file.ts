import { type FileHandle, open, rm } from 'node:fs/promises';

/** A new file in a folder that still has a temporary name: so the file needs no temporary name itself. */
export class NewFile {
  readonly handle: FileHandle;
  readonly #path: string;

  /** Opens the file for writing. The folder must exist, and the file must not. */
  static async create(path: string): Promise<NewFile> {
    return new NewFile(path, await open(path, 'wx'));
  }

  private constructor(path: string, handle: FileHandle) {
    this.#path = path;
    this.handle = handle;
  }

  /** Makes the content durable. The name becomes durable with the folder. Leaves nothing if that fails. */
  async commit(): Promise<void> {
    try {
      await this.handle.sync();
      await this.handle.close();
    } catch (error) {
      await this.abort();
      throw error;
    }
  }

  /** Removes the file. */
  async abort(): Promise<void> {
    await this.handle.close().catch(() => {});
    await rm(this.#path, { force: true });
  }
}
