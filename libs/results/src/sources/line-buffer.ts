import { ownBytes } from '../files/own-bytes.ts';

const newline = 0x0a;

/** UTF-8 has at most so many bytes for a UTF-16 unit. */
const unitBytes = 3;

/** Lines as UTF-8, gathered until they are taken. As one string they would be thousands of parts, which the garbage collector moves. */
export class LineBuffer {
  #bytes = Buffer.allocUnsafe(2 ** 17);
  #length = 0;

  /** A value as JSON, and the end of the line. */
  put(value: object): void {
    const line = JSON.stringify(value);
    const most = this.#length + unitBytes * line.length + 1;
    if (most > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(2 * most);
      this.#bytes.copy(larger, 0, 0, this.#length);
      this.#bytes = larger;
    }
    this.#length += this.#bytes.write(line, this.#length);
    this.#bytes[this.#length++] = newline;
  }

  /** What was put since the last call, in memory of its own. */
  take(): Uint8Array<ArrayBuffer> {
    const taken = ownBytes([this.#bytes.subarray(0, this.#length)]);
    this.#length = 0;
    return taken;
  }
}
