import { closeSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { loadKoffi } from '@halogrid/threads/load-koffi';
import { createMemory, libc, mapMemory } from './process/libc.ts';

/**
 * Copies of more bytes than that are made on a thread, where the main thread could not make those of all cores. Few
 * cores copy at once: it costs them less.
 */
const threadedBytes = availableParallelism() > 4 ? 2 ** 18 : Number.POSITIVE_INFINITY;

/**
 * Memory that a process which decodes puts luma into, and this one takes it from. It is known by its address alone, so
 * that no view outlives it.
 */
export class SharedMemory {
  readonly fd: number;
  readonly bytes: number;
  readonly #address: number;
  #users = 1;

  /** Throws Error where there is none to be had. */
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

  /** To be called once another process has it. */
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

  /** Keeps it mapped until it is released once more. */
  use(): void {
    this.#users++;
  }

  release(): void {
    if (--this.#users === 0) libc().munmap(this.#address, this.bytes);
  }
}
