import { closeSync } from 'node:fs';
import { coresHere } from '@halogrid/threads/limits';
import { loadKoffi } from '@halogrid/threads/load-koffi';
import { createMemory, libc, mapMemory } from './process/libc.ts';

/**
 * Copies of at least so many bytes are made on a thread if there are many cores: the main thread could not make all
 * copies for them. With few cores it copies at once, which costs less.
 */
const threadedBytes = coresHere() > 4 ? 2 ** 18 : Number.POSITIVE_INFINITY;

/**
 * Memory into which a decoding process puts luma, and from which this process takes it. Only its address is kept, so no
 * view outlives it.
 */
export class SharedMemory {
  readonly fd: number;
  readonly bytes: number;
  readonly #address: number;
  #users = 1;

  /** Throws Error if the system has no such memory. */
  constructor(bytes: number) {
    this.fd = createMemory(bytes);
    try {
      this.#address = mapMemory(this.fd, bytes);
    } catch (error) {
      closeSync(this.fd);
      throw error;
    }
    this.bytes = bytes;
  }

  /** Call it once another process has the file descriptor. */
  closeFd(): void {
    closeSync(this.fd);
  }

  /** Copies `bytes` bytes from `place` on to byte `at` of `target`, which must stay where it is until that is done. */
  async copy(place: number, bytes: number, target: Uint8Array, at: number): Promise<void> {
    if (place + bytes > this.bytes || at + bytes > target.length) throw new RangeError('The frame does not fit');
    const { memcpy } = libc();
    const to = loadKoffi().address(target) + BigInt(at);
    if (bytes < threadedBytes) {
      memcpy(to, this.#address + place, bytes);
      return;
    }
    this.use();
    try {
      await new Promise<void>((resolve, reject) => {
        memcpy.async(to, this.#address + place, bytes, (error: Error | null) => (error ? reject(error) : resolve()));
      });
    } finally {
      this.release();
    }
  }

  /** Keeps the memory mapped until one more `release`. */
  use(): void {
    this.#users++;
  }

  release(): void {
    if (--this.#users === 0) libc().munmap(this.#address, this.bytes);
  }
}
