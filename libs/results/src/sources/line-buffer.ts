import { ownBytes } from '../files/own-bytes.ts';

const newline = 0x0a;

/** The most bytes that UTF-8 takes for a UTF-16 unit. */
const unitBytes = 3;

/**
 * Gathers lines as UTF-8 until they are taken. A string of all lines would consist of thousands of parts, which the
 * garbage collector would move.
 */
export class LineBuffer {
  #bytes = Buffer.allocUnsafe(2 ** 17);
  #length = 0;

  /** Adds a value as JSON, and the end of the line. */
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

  /** The lines since the last call, in a buffer of their own. */
  take(): Uint8Array<ArrayBuffer> {
    const taken = ownBytes([this.#bytes.subarray(0, this.#length)]);
    this.#length = 0;
    return taken;
  }
}
