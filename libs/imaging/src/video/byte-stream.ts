/** Bytes of a pipe, copied to where they are wanted as they come. */
export class ByteStream {
  readonly #chunks: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(stream: NodeJS.ReadableStream) {
    this.#chunks = (stream as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
  }

  /** Fills `target`; false if the stream ends before. */
  async fill(target: Uint8Array): Promise<boolean> {
    for (let at = 0; at < target.length; ) {
      if (this.#rest.length === 0) {
        const { value, done } = await this.#chunks.next();
        if (done) return false;
        this.#rest = value;
      }
      const length = Math.min(this.#rest.length, target.length - at);
      target.set(this.#rest.subarray(0, length), at);
      this.#rest = this.#rest.subarray(length);
      at += length;
    }
    return true;
  }
}
