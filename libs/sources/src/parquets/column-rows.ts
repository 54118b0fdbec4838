import { DamagedError } from './damaged-error.ts';
import type { ColumnBytes, FileBytes, Leaf } from './parquet-footer.ts';
import {
  type PagedColumn,
  type PageHeader,
  type PageValues,
  readDictionary,
  readPageHeader,
  readValues,
} from './parquet-pages.ts';

/** The most bytes of a page, packed or not. A page is in memory as a whole. */
const mostPageBytes = 2 ** 30;
/** Bytes that are read at first of the header of a page. A header with statistics of long texts may be longer. */
const headerBytes = 2 ** 10;
/** The most bytes of the header of a page. */
const mostHeaderBytes = 2 ** 24;

/** A page of a column of a row group: which rows it has, and where it lies in the file. */
interface PagePlace {
  page: PageHeader;
  firstRow: number;
  start: number;
}

/** Some rows of a column, decoded. */
export interface DecodedRows extends PageValues {
  firstRow: number;
}

/**
 * The texts of a column of a row group, page by page. Headers are read one after another as far as they are needed.
 * Calls must not overlap. They reject with DamagedError, with what hyparquet throws, and as the file does.
 */
export class ColumnRows {
  readonly rows: number;
  readonly #file: FileBytes;
  readonly #column: PagedColumn;
  readonly #end: number;
  readonly #pages: PagePlace[] = [];
  #at: number;
  #dictionary: PageValues | undefined;

  constructor(file: FileBytes, leaf: Leaf, { start, rows, chunk }: ColumnBytes) {
    this.#file = file;
    this.rows = rows;
    this.#column = { leaf, codec: chunk.codec, rows, mostTextBytes: mostPageBytes, mostBytes: mostPageBytes };
    this.#at = start;
    this.#end = start + Number(chunk.total_compressed_size);
  }

  /** The first row of the page that has a row of the group, which names the page. */
  async pageOf(row: number): Promise<number> {
    return (await this.#find(row)).firstRow;
  }

  /** The rows of the page that has a row of the group. */
  async read(row: number): Promise<DecodedRows> {
    const { page, firstRow, start } = await this.#find(row);
    const packed = await this.#file.read(start, page.packedBytes);
    return { firstRow, ...readValues(page, packed, this.#column, this.#dictionary) };
  }

  async #find(row: number): Promise<PagePlace> {
    for (;;) {
      const last = this.#pages.at(-1);
      if (last && row < last.firstRow + last.page.rows) return this.#pages.findLast(({ firstRow }) => firstRow <= row)!;
      await this.#next(last ? last.firstRow + last.page.rows : 0);
    }
  }

  async #next(firstRow: number): Promise<void> {
    if (this.#at >= this.#end) throw new DamagedError('a column of it ends before its last row');
    const { page, bytes } = await this.#header(this.#at, this.rows - firstRow);
    const start = this.#at + bytes;
    if (start + page.packedBytes > this.#end) throw new DamagedError('a page of it is longer than its column');
    if (Math.max(page.packedBytes, page.unpackedBytes) > mostPageBytes)
      throw new DamagedError(`a page of it has more than ${mostPageBytes} bytes: write it with smaller row groups`);
    if (page.isDictionary)
      this.#dictionary = readDictionary(page, await this.#file.read(start, page.packedBytes), this.#column);
    this.#at = start + page.packedBytes;
    // A page without rows is of no use, and would be found for the rows of the next.
    if (page.rows > 0) this.#pages.push({ page, firstRow, start });
  }

  async #header(at: number, mostRows: number): Promise<{ page: PageHeader; bytes: number }> {
    for (let length = headerBytes; ; length *= 16) {
      const left = this.#end - at;
      const bytes = await this.#file.read(at, Math.min(length, left));
      try {
        const { page, end } = readPageHeader(bytes, 0, mostRows);
        return { page, bytes: end };
      } catch (error) {
        // It may only be longer than what was read.
        if (length >= Math.min(left, mostHeaderBytes)) throw error;
      }
    }
  }
}
