import { isUtf8 } from 'node:buffer';

/** The most bytes of a line: no URI and no path is longer, and a file that is not a manifest may be a single line. */
const maxLineBytes = 2 ** 16;

/** A line of a manifest that is neither empty nor a comment, without white space around it. */
export interface ManifestLine {
  /** The line, or the beginning of a line that is too long. */
  text: string;
  /** From 1. */
  number: number;
  /** Why it names nothing, in one sentence. */
  error?: string;
}

/** The lines of a manifest, in memory that does not grow with it. Rejects if `chunks` does. */
export async function* manifestLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<ManifestLine, void, undefined> {
  const line = new LineBytes();
  let number = 1;
  for await (const chunk of chunks) {
    let start = 0;
    for (let at = 0; at < chunk.length; at++) {
      if (chunk[at] !== newline && chunk[at] !== carriageReturn) continue;
      line.add(chunk.subarray(start, at));
      const read = line.take(number);
      if (read) yield read;
      if (chunk[at] === newline) number++;
      start = at + 1;
    }
    line.add(chunk.subarray(start));
  }
  const last = line.take(number);
  if (last) yield last;
}

const newline = 0x0a;
const carriageReturn = 0x0d;

/** The bytes that were read of a line, as far as they are kept. */
class LineBytes {
  #parts: Buffer[] = [];
  #bytes = 0;

  add(part: Buffer): void {
    if (this.#bytes <= maxLineBytes && part.length > 0) this.#parts.push(part.subarray(0, maxLineBytes + 1));
    this.#bytes += part.length;
  }

  /** The line that has ended; undefined if it is empty or a comment. The next line begins. */
  take(number: number): ManifestLine | undefined {
    const bytes = Buffer.concat(this.#parts);
    const isTooLong = this.#bytes > maxLineBytes;
    this.#parts = [];
    this.#bytes = 0;
    const text = bytes
      .toString()
      .replace(/^\ufeff/, '')
      .trim();
    if (text === '' || text.startsWith('#')) return undefined;
    if (isTooLong) {
      const error = `Line ${number} of the manifest is longer than ${maxLineBytes} bytes, so it names no file`;
      return { text: text.slice(0, 100), number, error };
    }
    return isUtf8(bytes) ? { text, number } : { text, number, error: `Line ${number} of the manifest is not UTF-8` };
  }
}
