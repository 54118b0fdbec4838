/** Buffers differ in size by steps of this, so that batches of about the same size use each other's. */
const stepBytes = 2 ** 20;

/**
 * Memory for dense results, used again for the next batch: copying out of mapped memory into new pages gives 1.2 GiB a
 * second, into pages that were written before 8.7 (measured).
 */
export class ResultMemory {
  readonly #mostIdleBytes: number;
  /** Oldest first. */
  readonly #idle: ArrayBuffer[] = [];
  #idleBytes = 0;

  /** At most so many bytes are kept that nobody uses. */
  constructor(mostIdleBytes: number) {
    this.#mostIdleBytes = mostIdleBytes;
  }

  /** A copy of `bytes`, which is the caller's until it is given back. */
  copy(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
    const copy = new Uint8Array(this.#take(bytes.length), 0, bytes.length);
    copy.set(bytes);
    return copy;
  }

  /** Nobody may read or write `copy` after this. */
  giveBack(copy: Uint8Array<ArrayBuffer>): void {
    this.#idle.push(copy.buffer);
    this.#idleBytes += copy.buffer.byteLength;
    while (this.#idleBytes > this.#mostIdleBytes) this.#idleBytes -= this.#idle.shift()!.byteLength;
  }

  /** The one that was used last, whose pages are the likeliest to be in a cache. */
  #take(bytes: number): ArrayBuffer {
    const size = Math.max(1, Math.ceil(bytes / stepBytes)) * stepBytes;
    const at = this.#idle.findLastIndex(({ byteLength }) => byteLength >= size && byteLength <= 2 * size);
    if (at < 0) return new ArrayBuffer(size);
    this.#idleBytes -= this.#idle[at]!.byteLength;
    return this.#idle.splice(at, 1)[0]!;
  }
}
