// For tests and the simulation.
import type { OpenFile, SpoolFile } from './histogram-spool.ts';

/** Files that are there while this is, whoever opens and closes them: a disk that outlives coordinators. */
export class MemoryFiles {
  readonly #files = new Map<string, MemoryFile>();

  readonly open: OpenFile = async (path, flags) => {
    const file = this.#files.get(path) ?? new MemoryFile();
    if (flags === 'r+' && !this.#files.has(path)) throw new Error(`ENOENT: no such file or directory, open '${path}'`);
    this.#files.set(path, file);
    return file;
  };
}

class MemoryFile implements SpoolFile {
  #bytes = new Uint8Array(4096);
  #size = 0;

  async write(bytes: Uint8Array, from: number, length: number, at: number): Promise<{ bytesWritten: number }> {
    if (at + length > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(2 * this.#bytes.length, at + length));
      grown.set(this.#bytes);
      this.#bytes = grown;
    }
    this.#bytes.set(bytes.subarray(from, from + length), at);
    this.#size = Math.max(this.#size, at + length);
    return { bytesWritten: length };
  }

  async stat(): Promise<{ size: number }> {
    return { size: this.#size };
  }

  async truncate(bytes: number): Promise<void> {
    this.#size = bytes;
  }

  async datasync(): Promise<void> {}

  async close(): Promise<void> {}
}
