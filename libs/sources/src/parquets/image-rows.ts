import { InputError } from '../input-error.ts';
import { ColumnRows } from './column-rows.ts';
import { whyDamaged } from './damaged-error.ts';
import type { ImageColumn } from './image-column.ts';
import { type ColumnBytes, chunksOf, type FileBytes, type ParquetFooter } from './parquet-footer.ts';

/** A row of a file, before its image is read. */
export interface ImageRow {
  row: number;
  /** The text beside the image, mostly the name of the file that it was. */
  path?: string;
  /** Bytes of an image of the row group on average; at least 1. */
  meanBytes: number;
}

/** A name for some rows that are decoded together, and how to decode them. */
export interface RowsPlace {
  key: string;
  /** The rows, and the number of the first. */
  read(): Promise<{ values: (Uint8Array | undefined)[]; bytes: number; firstRow: number }>;
}

interface Group {
  firstRow: number;
  rows: number;
  chunk: ColumnBytes;
  paths: ColumnBytes | undefined;
}

/** A column of images in an open file. Methods reject with InputError. */
export class ImageRows {
  readonly #file: FileBytes;
  readonly #column: ImageColumn;
  readonly #groups: Group[];
  /** The columns of row groups that were asked for, by their first rows. */
  readonly #open = new Map<number, ColumnRows>();

  /** Throws InputError if the footer cannot be. */
  constructor(file: FileBytes, footer: ParquetFooter, column: ImageColumn) {
    this.#file = file;
    this.#column = column;
    const { images, paths } = column;
    let firstRow = 0;
    try {
      this.#groups = chunksOf(footer, paths ? [images, paths] : [images]).map(([chunk, paths]) => {
        const group = { firstRow, rows: chunk!.rows, chunk: chunk!, paths };
        firstRow += group.rows;
        return group;
      });
    } catch (error) {
      throw unreadable(error);
    }
  }

  /** All rows, some at a time. Reads the column of paths, if there is one, and no images. */
  async *list(): AsyncGenerator<ImageRow[], void, undefined> {
    for (const { firstRow, rows, chunk, paths } of this.#groups) {
      const meanBytes = Math.max(1, Math.round(Number(chunk.chunk.total_uncompressed_size) / Math.max(1, rows)));
      const texts = paths && new ColumnRows(this.#file, this.#column.paths!, paths);
      for (let at = 0; at < rows; ) {
        const some = await texts?.read(at).catch(refuse);
        const count = some ? some.values.length : Math.min(rowsAtOnce, rows - at);
        const inRow = at;
        yield Array.from({ length: count }, (_, i): ImageRow => {
          const path = textOf(some?.values[i]);
          return { row: firstRow + inRow + i, meanBytes, ...(path !== undefined && { path }) };
        });
        at += count;
      }
    }
  }

  /** The rows that are decoded together with a row. Calls must not overlap, nor reads. */
  async placeOf(row: number): Promise<RowsPlace> {
    const group = this.#groups.find(({ firstRow, rows }) => row >= firstRow && row < firstRow + rows);
    if (!group) throw new InputError('read', `The Parquet file has no row ${row}`);
    const { firstRow } = group;
    let rows = this.#open.get(firstRow);
    if (!rows) {
      // The dictionary of each stays in memory.
      if (this.#open.size === mostOpen) this.#open.delete(this.#open.keys().next().value!);
      rows = new ColumnRows(this.#file, this.#column.images, group.chunk);
      this.#open.set(firstRow, rows);
    }
    const column = rows;
    const page = await column.pageOf(row - firstRow).catch(refuse);
    const read = async () => {
      const decoded = await column.read(page).catch(refuse);
      return { ...decoded, firstRow: firstRow + decoded.firstRow };
    };
    return { key: `${firstRow + page}`, read };
  }
}

/** Row groups whose pages are known. */
const mostOpen = 4;
/** Rows without paths that are listed at once. */
const rowsAtOnce = 256;
/** The most bytes of a path that is kept; Linux has no longer ones. */
const mostPathBytes = 4096;

function textOf(bytes: Uint8Array | undefined): string | undefined {
  if (!bytes || bytes.length === 0 || bytes.length > mostPathBytes) return undefined;
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
}

/** The reason for which a file cannot be read, as InputError; what is not the file's fault is thrown. */
export function unreadable(error: unknown): InputError {
  if (error instanceof InputError) return error;
  if (error instanceof RangeError && error.message.includes('allocation')) throw error;
  return new InputError('decode', `The Parquet file cannot be read: ${whyDamaged(error as Error)}`);
}

const refuse = (error: unknown): never => {
  throw unreadable(error);
};
