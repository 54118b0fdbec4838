import { Budget } from '@halogrid/threads';

/** Buffer sizes are multiples of this, so that batches of about the same size can use each other's buffers. */
const stepBytes = 4 * 2 ** 20;

/** Memory that is used again for each batch. New memory would first have to be cleared and paged in. */
export class BufferPool {
  readonly #budget: Budget;
  /** Oldest first. */
  #free: ArrayBuffer[] = [];

  /** At most `limitBytes` are out and kept together; further callers wait. */
  constructor(limitBytes: number) {
    this.#budget = new Budget(limitBytes);
  }

  /** Waits for a buffer of at least `bytes`. Its content is left over from before. */
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
    // This wakes the waiting callers, which then find the buffer. If they want another size, `take` drops it.
    this.forget(buffer.byteLength);
  }

  /** Accounts for a buffer of `bytes` bytes that will not come back. */
  forget(bytes: number): void {
    this.#budget.release(bytes);
  }

  #trim(): void {
    let kept = this.#free.reduce((sum, buffer) => sum + buffer.byteLength, 0);
    while (kept > 0 && kept + this.#budget.used > this.#budget.limit) kept -= this.#free.shift()!.byteLength;
  }
}
