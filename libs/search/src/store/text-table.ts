import type { RowColumns } from './row-columns.ts';

/** Texts by number. Frames of a source follow one another, so a text is looked for only among the last few. */
export class TextTable {
  readonly #recent: { text: string; number: number }[] = [];
  readonly #ends: number[] = [];
  #bytes = Buffer.alloc(2 ** 16);

  get size(): number {
    return this.#ends.length;
  }

  numberOf(text: string): number {
    const known = this.#recent.find((each) => each.text === text);
    if (known) return known.number;
    const number = this.#ends.length;
    const from = this.#ends.at(-1) ?? 0;
    const end = from + Buffer.byteLength(text, 'utf8');
    if (end > this.#bytes.length)
      this.#bytes = Buffer.concat([this.#bytes, Buffer.alloc(Math.max(end, this.#bytes.length))]);
    this.#bytes.write(text, from, 'utf8');
    this.#ends.push(end);
    this.#recent.unshift({ text, number });
    if (this.#recent.length > 4) this.#recent.pop();
    return number;
  }

  columns(): Pick<RowColumns, 'textEnds' | 'textBytes'> {
    return { textEnds: Uint32Array.from(this.#ends), textBytes: this.#bytes.subarray(0, this.#ends.at(-1) ?? 0) };
  }
}
