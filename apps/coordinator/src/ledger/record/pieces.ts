import { ByteWriter } from './byte-writer.ts';

/**
 * A piece that is this long or longer is not added to. Each write rewrites the last piece, so this bounds what is written
 * again, and from below the size of what is read when a job is recovered. With every result a group of its own, the 55 bytes
 * of a result cost 2 KiB a write, no more than the totals that are written with them, and a million results make 14,000
 * pieces; a group of 75 results and more is a piece by itself, and nothing is written twice. Measured, in groups of up to 256:
 * a million frames take 92 bytes each in a file of SQLite, 25 of them for the plan.
 */
const pieceBytes = 4096;

/** A list of records that only grows, kept as numbered pieces of bytes. */
export class Pieces<Writer> {
  readonly #open: (bytes: ByteWriter) => Writer;
  #number: number;
  #bytes!: ByteWriter;
  #writer!: Writer;
  #takenBytes = 0;

  /** `before`: pieces that there are already. `open` begins a piece. */
  constructor(open: (bytes: ByteWriter) => Writer, before = 0) {
    this.#open = open;
    this.#number = before;
    this.#begin();
  }

  /** Writes to the last piece; to be asked for anew after `take`. */
  get writer(): Writer {
    return this.#writer;
  }

  /** Pieces that there are. */
  get count(): number {
    return this.#number + (this.#bytes.length > 0 ? 1 : 0);
  }

  /** The last piece where it is new or has grown since it was taken, and it alone has. */
  take(): { key: number; content: Uint8Array } | undefined {
    if (this.#bytes.length === this.#takenBytes) return undefined;
    const taken = { key: this.#number, content: this.#bytes.bytes };
    this.#takenBytes = this.#bytes.length;
    if (this.#takenBytes >= pieceBytes) {
      this.#number++;
      this.#begin();
    }
    return taken;
  }

  #begin(): void {
    this.#bytes = new ByteWriter();
    this.#writer = this.#open(this.#bytes);
    this.#takenBytes = 0;
  }
}
