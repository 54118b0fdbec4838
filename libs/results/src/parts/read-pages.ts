import { ColumnError } from '../features/column-error.ts';
import { maxHeaderBytes, type PageHeader, pageValues, readPageHeader } from '../features/raw-page.ts';
import type { RangeReader } from './range-reader.ts';

/** Takes the pages of a column in order. */
export interface PageTaker {
  /** The most bytes, uncompressed, that the values of a page with `rows` rows may have. */
  mostBytes(rows: number): number;
  take(header: PageHeader, definitionLevels: Uint8Array, values: Uint8Array): void;
}

/**
 * Reads row groups. `groups` has the number of rows of each page, by row group; `takers` has an entry per column, and a
 * column without a taker is passed over. Rejects with ColumnError if pages have other numbers of rows, or a page has
 * more bytes than its taker allows.
 */
export async function readPages(
  reader: RangeReader,
  groups: readonly (readonly number[])[],
  takers: readonly (PageTaker | undefined)[],
): Promise<void> {
  for (const pages of groups) {
    for (const taker of takers) {
      for (const rows of pages) await readPage(reader, rows, taker);
    }
  }
  await reader.end();
}

async function readPage(reader: RangeReader, rows: number, taker: PageTaker | undefined): Promise<void> {
  const header = readPageHeader(await reader.peek(maxHeaderBytes));
  if (header.rows !== rows) throw new ColumnError(`has a page of ${header.rows} rows instead of ${rows}`);
  const { headerBytes, repetitionBytes, definitionBytes, dataBytes } = header;
  if (!taker) return reader.skip(headerBytes + repetitionBytes + definitionBytes + dataBytes);
  await reader.skip(headerBytes + repetitionBytes);
  const most = taker.mostBytes(rows);
  // Levels take few bytes, and a page that does not shrink is not compressed, so both stay within `most`.
  for (const bytes of [definitionBytes, dataBytes]) {
    if (bytes > most + maxHeaderBytes) throw new ColumnError(`has a page of ${bytes} bytes, more than ${most}`);
  }
  const levels = await reader.take(definitionBytes);
  taker.take(header, levels, pageValues(header, await reader.take(dataBytes), most));
}
