import { Budget } from '@halogrid/threads';

/** Buffers differ in size by steps of this, so that batches of about the same size use each other's. */
const stepBytes = 4 * 2 ** 20;

/** Memory that is used again instead of being allocated, and so cleared and paged in, for every batch. */
export class BufferPool {
  readonly #budget: Budget;
  /** Oldest first. */
  #free: ArrayBuffer[] = [];

  /** At most `limitBytes` are out and kept together; who wants more waits. */
  constructor(limitBytes: number) {
    this.#budget = new Budget(limitBytes);
  }

  /** Waits for a buffer of at least `bytes`. What is in it is whatever was there before. */
  async take(bytes: number): Promise<ArrayBuffer> {
    const size = Math.max(1, Math.ceil(bytes / stepBytes)) * stepBytes;
    await this.#budget.acquire(size);
    const at = this.#free.findIndex((buffer) => buffer.byteLength === size);
    const kept = at < 0 ? undefined : this.#free.splice(at, 1)[0];
    this.#trim();
    return kept ?? new ArrayBuffer(size);
  }

  /** Bytes that are out or kept. */
  get heldBytes(): number {
    return this.#free.reduce((sum, buffer) => sum + buffer.byteLength, this.#budget.used);
  }

  give(buffer: ArrayBuffer): void {
    this.#free.push(buffer);
    // Who waits is woken by this, and finds the buffer; `take` lets go of it where it is not of the size that is
    // wanted.
    this.forget(buffer.byteLength);
  }

  /** Accounts for a buffer of that size that will not come back. */
  forget(bytes: number): void {
    this.#budget.release(bytes);
  }

  #trim(): void {
    let kept = this.#free.reduce((sum, buffer) => sum + buffer.byteLength, 0);
    while (kept > 0 && kept + this.#budget.used > this.#budget.limit) kept -= this.#free.shift()!.byteLength;
  }
}
