import { stat } from 'node:fs/promises';
import { brotliDecompressSync, gunzipSync, type ZlibOptions, zstdDecompressSync } from 'node:zlib';
import {
  type AsyncBuffer,
  asyncBufferFromFile,
  type Compressors,
  type FileMetaData,
  parquetMetadata,
  parquetReadObjects,
} from 'hyparquet';
import { localVersion } from '../../files/local-file.ts';
import { SourceNotFoundError } from '../../source-errors.ts';
import { type ManifestRow, manifestColumns, manifestRow, type RowValues } from '../manifest-row.ts';
import { chunksOf, flatColumns, mostFooterBytes } from './parquet-bounds.ts';
import { checkPages } from './parquet-pages.ts';
import { DamagedError, readThriftStruct } from './thrift-struct.ts';

/** Rows that are yielded at once. */
const rowsAtOnce = 1024;

type Unpack = (bytes: Uint8Array, options: ZlibOptions) => Buffer;
const by =
  (unpack: Unpack) =>
  (bytes: Uint8Array, length: number): Uint8Array =>
    unpack(bytes, { maxOutputLength: Math.max(1, length) });

/** Codecs in addition to hyparquet's own. Node has Zstandard from 22.15 on. */
const compressors: Compressors = {
  GZIP: by(gunzipSync),
  BROTLI: by(brotliDecompressSync),
  ...(zstdDecompressSync && { ZSTD: by(zstdDecompressSync as Unpack) }),
};

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
  const { metadata, dataEnd } = await readFooter(file).catch(unreadable);
  const flat = await Promise.try(() => flatColumns(metadata)).catch(unreadable);
  const columns: string[] = manifestColumns.filter((column) => flat.has(column));
  if (!columns.includes('path') && !columns.includes('uri')) {
    throw new SourceNotFoundError(`The manifest '${name}' has neither a column 'path' nor 'uri'`);
  }
  const groups = await Promise.try(() => chunksOf(metadata, columns, dataEnd)).catch(unreadable);
  let rowStart = 0;
  for (const [i, { num_rows }] of metadata.row_groups.entries()) {
    const rowEnd = rowStart + Number(num_rows);
    for (const [c, { start, chunk }] of groups[i]!.entries()) {
      const column = { field: flat.get(columns[c]!)!, codec: chunk.codec, rows: rowEnd - rowStart, compressors };
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

/** Errors that hyparquet did not expect describe its own code, not the file. */
function whyDamaged(error: Error): string {
  const isOfProgram = error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError;
  return isOfProgram || error.message.includes('undefined') ? 'it is damaged' : error.message;
}

/** The decoded footer, and where it begins. */
async function readFooter(file: AsyncBuffer): Promise<{ metadata: FileMetaData; dataEnd: number }> {
  const magic = 'PAR1';
  const size = file.byteLength;
  const tail = Buffer.from(await file.slice(Math.max(0, size - 8), size));
  if (size < 12 || tail.toString('latin1', 4) !== magic) throw new DamagedError('it is not a Parquet file, or cut off');
  const footerBytes = tail.readUInt32LE(0);
  const dataEnd = size - 8 - footerBytes;
  if (dataEnd < magic.length) throw new DamagedError('its footer is longer than the file');
  if (footerBytes > mostFooterBytes) throw new DamagedError(`its footer has more than ${mostFooterBytes} bytes`);
  const footer = await file.slice(dataEnd, size);
  readThriftStruct(new Uint8Array(footer, 0, footerBytes));
  return { metadata: parquetMetadata(footer, { geoparquet: false }), dataEnd };
}
