import { stat } from 'node:fs/promises';
import { type AsyncBuffer, asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import { localVersion } from '../../files/local-file.ts';
import { compressors } from '../../parquets/codecs.ts';
import { whyDamaged } from '../../parquets/damaged-error.ts';
import { chunksOf, type FileBytes, flatColumns, readFooter } from '../../parquets/parquet-footer.ts';
import { checkPages } from '../../parquets/parquet-pages.ts';
import { SourceNotFoundError } from '../../source-errors.ts';
import { type ManifestRow, manifestColumns, manifestRow, type RowValues } from '../manifest-row.ts';

/** Rows that are yielded at once. */
const rowsAtOnce = 1024;

/** The most bytes of a column of a row group: texts of 256 bytes in the most rows allowed. */
const mostChunkBytes = 2 ** 30;
/** The most bytes of a text that continues the one before it. Manifests need no longer one. */
const mostTextBytes = 2 ** 16;

/** Opens a Parquet file at a path, or in memory. Reads fail once the file has been written to. */
export async function openParquet(content: string | Buffer): Promise<AsyncBuffer> {
  if (typeof content === 'string') return await unchangedFile(content);
  const bytes = new Uint8Array(content).buffer;
  return { byteLength: bytes.byteLength, slice: (start, end) => bytes.slice(start, end) };
}

/**
 * Refuses to read a file that has changed since it was opened. Decoders do not always notice that: they may give
 * rows without values.
 */
async function unchangedFile(path: string): Promise<AsyncBuffer> {
  const version = localVersion(await stat(path));
  const file = await asyncBufferFromFile(path);
  const slice = async (start: number, end?: number): Promise<ArrayBuffer> => {
    const bytes = await file.slice(start, end);
    if (localVersion(await stat(path)) !== version) throw new Error('it was written to while it was read');
    return bytes;
  };
  return { byteLength: file.byteLength, slice };
}

/**
 * The rows of a manifest in Parquet, some at a time, with one row group in memory. `name` is the manifest's name in
 * messages. Only columns directly below the root with one value a row are read; others with the same name are ignored.
 * Rejects with SourceNotFoundError if the file is not Parquet, or has neither a column `path` nor `uri`.
 *
 * hyparquet trusts the sizes and counts that a file states, so all of them are checked before hyparquet gets the file.
 */
export async function* parquetRows(file: AsyncBuffer, name: string): AsyncGenerator<ManifestRow[], void, undefined> {
  const unreadable = (error: unknown): never => {
    throw new SourceNotFoundError(`The manifest '${name}' cannot be read: ${whyDamaged(error as Error)}`);
  };
  const footer = await readFooter(bytesOf(file)).catch(unreadable);
  const { metadata } = footer;
  const flat = await Promise.try(() => flatColumns(metadata)).catch(unreadable);
  const columns: string[] = manifestColumns.filter((column) => flat.has(column));
  if (!columns.includes('path') && !columns.includes('uri')) {
    throw new SourceNotFoundError(`The manifest '${name}' has neither a column 'path' nor 'uri'`);
  }
  const leaves = columns.map((column) => flat.get(column)!);
  const groups = await Promise.try(() => chunksOf(footer, leaves, mostChunkBytes)).catch(unreadable);
  let rowStart = 0;
  for (const [i, { num_rows }] of metadata.row_groups.entries()) {
    const rowEnd = rowStart + Number(num_rows);
    for (const [c, { start, rows, chunk }] of groups[i]!.entries()) {
      const column = { leaf: leaves[c]!, codec: chunk.codec, rows, mostTextBytes, mostBytes: mostChunkBytes };
      const check = async (): Promise<number> => {
        const bytes = await file.slice(start, start + Number(chunk.total_compressed_size));
        return checkPages(new Uint8Array(bytes), column);
      };
      // Nothing after the checked pages is read.
      chunk.total_compressed_size = BigInt(await check().catch(unreadable));
    }
    const options = { file, metadata, columns, rowStart, rowEnd, compressors };
    const rows = (await parquetReadObjects(options).catch(unreadable)) as RowValues[];
    for (let at = 0; at < rows.length; at += rowsAtOnce) {
      const some = rows.slice(at, at + rowsAtOnce);
      yield some.map((values, i) => manifestRow(values, `Row ${rowStart + at + i + 1} of the manifest`));
    }
    rowStart = rowEnd;
  }
}

const bytesOf = (file: AsyncBuffer): FileBytes => ({
  sizeBytes: file.byteLength,
  read: async (position, length) => new Uint8Array(await file.slice(position, position + length)),
});
