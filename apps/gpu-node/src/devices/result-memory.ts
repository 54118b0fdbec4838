/** Buffer sizes are multiples of this, so that batches of about the same size can use each other's buffers. */
const stepBytes = 2 ** 20;

/**
 * Memory for dense results, used again for the next batch: copying from mapped memory into new pages reaches 1.2 GiB a
 * second, into pages written before 8.7 (measured).
 */
export class ResultMemory {
  readonly #mostIdleBytes: number;
  /** Oldest first. */
  readonly #idle: ArrayBuffer[] = [];
  #idleBytes = 0;

  /** Keeps at most `mostIdleBytes` bytes of unused buffers. */
  constructor(mostIdleBytes: number) {
    this.#mostIdleBytes = mostIdleBytes;
  }

  /** A copy of `bytes`, which belongs to the caller until it gives it back. */
  copy(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
    const copy = new Uint8Array(this.#take(bytes.length), 0, bytes.length);
    copy.set(bytes);
    return copy;
  }

  /** Takes a copy back. Nobody may read or write it afterwards. */
  giveBack(copy: Uint8Array<ArrayBuffer>): void {
    this.#idle.push(copy.buffer);
    this.#idleBytes += copy.buffer.byteLength;
    while (this.#idleBytes > this.#mostIdleBytes) this.#idleBytes -= this.#idle.shift()!.byteLength;
  }

  /** Takes the buffer that was used last, because its pages are the likeliest to be in a cache. */
  #take(bytes: number): ArrayBuffer {
    const size = Math.max(1, Math.ceil(bytes / stepBytes)) * stepBytes;
    const at = this.#idle.findLastIndex(({ byteLength }) => byteLength >= size && byteLength <= 2 * size);
    if (at < 0) return new ArrayBuffer(size);
    this.#idleBytes -= this.#idle[at]!.byteLength;
    return this.#idle.splice(at, 1)[0]!;
  }
}
