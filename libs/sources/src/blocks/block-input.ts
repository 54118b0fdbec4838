import { readVarints } from '@halogrid/proto/varints';

/** Bytes are not a block of columns, or the block was damaged. The message is a sentence. */
export class BlockError extends Error {
  override readonly name = 'BlockError';
}

/** The bytes of a block that is being read. Each method throws BlockError if they cannot be in a block. */
export class BlockInput {
  readonly #bytes: Buffer;
  readonly #what: string;
  readonly #maxTextBytes: number;
  #at: number;
  #textBytes = 0;

  constructor(bytes: Buffer, at: number, what: string, maxTextBytes: number) {
    this.#bytes = bytes;
    this.#at = at;
    this.#what = what;
    this.#maxTextBytes = maxTextBytes;
  }

  /** The next varints; each is an integer that is exact. */
  numbers(count: number): Float64Array {
    // A varint takes at least a byte, so no memory is taken for missing values.
    if (!(count <= this.#bytes.length - this.#at)) this.refuse();
    const values = new Float64Array(count);
    this.#at = readVarints(this.#bytes, this.#at, values);
    if (this.#at > this.#bytes.length) this.refuse();
    for (let i = 0; i < count; i++) if (!(values[i]! <= Number.MAX_SAFE_INTEGER)) this.refuse();
    return values;
  }

  /** A view of the next bytes. */
  raw(length: number): Buffer {
    const end = this.#at + length;
    if (!(end <= this.#bytes.length)) this.refuse();
    const raw = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return raw;
  }

  /** Which rows have a value. `nth[row]`: the place of the row's value, or -1; undefined if all rows have one. */
  present(rows: number): { count: number; nth?: Int32Array } {
    const [count] = this.numbers(1) as unknown as [number];
    if (count > rows) this.refuse();
    if (count === rows) return { count };
    if (count === 0) return { count, nth: noneOf(rows) };
    const nth = new Int32Array(rows).fill(-1);
    let row = 0;
    for (const [place, gap] of this.numbers(count).entries()) {
      row += gap;
      if (row >= rows) this.refuse();
      nth[row++] = place;
    }
    return { count, nth };
  }

  /** Call it with the bytes of each text, written out. */
  takeText(bytes: number): void {
    this.#textBytes += bytes;
    if (!(this.#textBytes <= this.#maxTextBytes)) {
      throw new BlockError(`The texts of ${lower(this.#what)} have more than ${this.#maxTextBytes} bytes`);
    }
  }

  end(): void {
    if (this.#at !== this.#bytes.length) this.refuse();
  }

  refuse(): never {
    throw new BlockError(`${this.#what} is shorter or longer than it says`);
  }
}

/** Most columns have no values; they share this. */
let none = new Int32Array(0);

/** An array of -1 for at least that many rows. */
function noneOf(rows: number): Int32Array {
  if (none.length < rows) none = new Int32Array(rows).fill(-1);
  return none;
}

const lower = (text: string): string => text[0]!.toLowerCase() + text.slice(1);
