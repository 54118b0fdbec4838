import type { ImageRows } from './image-rows.ts';

/** The most bytes of decoded pages that are kept, and the page that was read last, whatever its size. */
const mostKeptBytes = 2 ** 26;

interface Page {
  values: (Uint8Array | undefined)[];
  bytes: number;
  firstRow: number;
}

/** Images of the rows of a column. Pages stay for the rows that follow, so that each is decoded once. */
export class DecodedImages {
  readonly #rows: ImageRows;
  /** The page that was asked for longest ago comes first. */
  readonly #pages = new Map<string, Page>();
  #bytes = 0;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(rows: ImageRows) {
    this.#rows = rows;
  }

  /** The bytes of a row, which may not be changed; undefined if it has none. One page is decoded at a time. */
  of(row: number): Promise<Uint8Array | undefined> {
    const asked = this.#turn.then(async () => {
      const { values, firstRow } = await this.#page(row);
      return values[row - firstRow];
    });
    this.#turn = asked.catch(() => {});
    return asked;
  }

  async #page(row: number): Promise<Page> {
    const { key, read } = await this.#rows.placeOf(row);
    const known = this.#pages.get(key);
    const page = known ?? (await read());
    if (known) this.#pages.delete(key);
    else this.#bytes += page.bytes;
    this.#pages.set(key, page);
    for (const [oldest, { bytes }] of this.#pages) {
      if (this.#bytes <= mostKeptBytes || this.#pages.size === 1) break;
      this.#pages.delete(oldest);
      this.#bytes -= bytes;
    }
    return page;
  }
}
