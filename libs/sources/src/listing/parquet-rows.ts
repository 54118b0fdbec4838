import { stat } from 'node:fs/promises';
import { brotliDecompressSync, gunzipSync, type ZlibOptions, zstdDecompressSync } from 'node:zlib';
import {
  type AsyncBuffer,
  asyncBufferFromFile,
  type Compressors,
  parquetMetadataAsync,
  parquetReadObjects,
} from 'hyparquet';
import { localVersion } from '../files/local-file.ts';
import { SourceNotFoundError } from '../source-errors.ts';
import { type ManifestRow, manifestColumns, manifestRow, type RowValues } from './manifest-row.ts';

/** Rows of a row group at most: one is held at a time, some hundred bytes a row. Programs write a million or fewer. */
const mostGroupRows = 2 ** 22;

/** Rows that are handed on at once. */
const rowsAtOnce = 1024;

type Unpack = (bytes: Uint8Array, options: ZlibOptions) => Buffer;
const by =
  (unpack: Unpack) =>
  (bytes: Uint8Array, length: number): Uint8Array =>
    unpack(bytes, { maxOutputLength: Math.max(1, length) });

/** Beside those that hyparquet has itself; Node has zstd from 22.15 on. */
const compressors: Compressors = {
  GZIP: by(gunzipSync),
  BROTLI: by(brotliDecompressSync),
  ...(zstdDecompressSync && { ZSTD: by(zstdDecompressSync as Unpack) }),
};

/** A file of Parquet at a path, or in memory. One that is written to later can be read no more. */
export async function openParquet(content: string | Buffer): Promise<AsyncBuffer> {
  if (typeof content === 'string') return await unchangedFile(content);
  const bytes = new Uint8Array(content).buffer;
  return { byteLength: bytes.byteLength, slice: (start, end) => bytes.slice(start, end) };
}

/** What is read of another file than its last bytes are of is not refused by each decoder: it may be rows without values. */
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
 * The rows of a manifest in Parquet, some at a time, a row group in memory. `name` is what to call it in sentences. Rejects with
 * SourceNotFoundError where the file is none, or has neither a column `path` nor `uri`.
 */
export async function* parquetRows(file: AsyncBuffer, name: string): AsyncGenerator<ManifestRow[], void, undefined> {
  const unreadable = (error: unknown): never => {
    throw new SourceNotFoundError(`The manifest '${name}' cannot be read: ${(error as Error).message}`);
  };
  const metadata = await parquetMetadataAsync(file).catch(unreadable);
  const there = new Set(metadata.schema.map((column) => column.name));
  const columns = manifestColumns.filter((column) => there.has(column));
  if (!columns.includes('path') && !columns.includes('uri')) {
    throw new SourceNotFoundError(`The manifest '${name}' has neither a column 'path' nor 'uri'`);
  }
  let rowStart = 0;
  for (const { num_rows } of metadata.row_groups) {
    const rowEnd = rowStart + Number(num_rows);
    if (rowEnd - rowStart > mostGroupRows) {
      throw new SourceNotFoundError(`The manifest '${name}' has a row group of more than ${mostGroupRows} rows`);
    }
    const options = { file, metadata, columns: [...columns], rowStart, rowEnd, compressors };
    const rows = (await parquetReadObjects(options).catch(unreadable)) as RowValues[];
    for (let at = 0; at < rows.length; at += rowsAtOnce) {
      const some = rows.slice(at, at + rowsAtOnce);
      yield some.map((values, i) => manifestRow(values, `Row ${rowStart + at + i + 1} of the manifest`));
    }
    rowStart = rowEnd;
  }
}
