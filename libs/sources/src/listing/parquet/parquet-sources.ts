import { type OpenBytes, openBytes } from '../../files/open-bytes.ts';
import { hasVideoExtension, isCompressedTarName, isParquetName, isTarName } from '../../formats.ts';
import { InputError } from '../../input-error.ts';
import { chooseColumn, type ImageColumn, imageColumns } from '../../parquets/image-column.ts';
import { type ImageRow, ImageRows, unreadable } from '../../parquets/image-rows.ts';
import { flatColumns, type ParquetFooter, readFooter } from '../../parquets/parquet-footer.ts';
import { rowUri } from '../../row-uri.ts';
import { SourceNotFoundError } from '../../source-errors.ts';
import type { ListingOptions } from '../filtered.ts';
import { shownPath } from '../shown-path.ts';
import type { Source } from '../source.ts';

/** Sources that are handed on at once. */
const atOnce = 256;

/**
 * The same inputs in the same order, but in place of a Parquet file the rows of its column of images. Rows are listed
 * without their images, so that rows without one are among them. A file that cannot be read, or has several such
 * columns, is itself the input, with the reason.
 */
export async function* withRows(
  chunks: AsyncIterable<Source[]> | Iterable<Source[]>,
  options: ListingOptions,
): AsyncGenerator<Source[], void, undefined> {
  for await (const sources of chunks) {
    let others: Source[] = [];
    for (const source of sources) {
      if (source.error === undefined && isParquetName(source.name)) {
        if (others.length > 0) yield others;
        others = [];
        yield* rowsOf(source, options);
      } else others.push(source);
    }
    if (others.length > 0) yield others;
  }
}

/** Whether a Parquet file is a manifest, and does not hold images. Rejects with InputError. */
export async function isParquetManifest(uri: string, options: ListingOptions): Promise<boolean> {
  const bytes = await openBytes(uri);
  try {
    return isManifest(await readFooter(bytes), options);
  } catch (error) {
    throw unreadable(error);
  } finally {
    await bytes.close();
  }
}

/** A manifest has a column of names directly below its root, and not the column that the job asks for. */
function isManifest({ metadata }: ParquetFooter, { column }: ListingOptions): boolean {
  const columns = flatColumns(metadata);
  const isAsked = column !== undefined && chooseColumn(imageColumns(metadata), column) !== undefined;
  return !isAsked && (columns.has('path') || columns.has('uri'));
}

async function* rowsOf(source: Source, options: ListingOptions): AsyncGenerator<Source[], void, undefined> {
  const selects = selector(source, options);
  let found: Source[] = [];
  let rows = 0;
  let bytes: OpenBytes | undefined;
  try {
    bytes = await openBytes(source.uri);
    const { version } = bytes;
    const footer = await readFooter(bytes);
    const column = columnOf(source, footer, options);
    if (!column) return;
    for await (const some of new ImageRows(bytes, footer, column).list()) {
      rows += some.length;
      for (const row of some) if (selects(row)) found.push(sourceOf(source, row, column, version));
      if (found.length < atOnce) continue;
      yield found;
      found = [];
    }
  } catch (error) {
    if (error instanceof SourceNotFoundError) throw error;
    const reason = unreadable(error);
    if (reason.fault === 'away') throw reason;
    rows++;
    found.push({ ...source, named: false, error: reason.message });
  } finally {
    await bytes?.close();
  }
  if (found.length > 0) yield found;
  if (rows > 0) return;
  if (source.named) throw new SourceNotFoundError(`The Parquet file '${shownPath(source.uri)}' has no rows`);
  options.onPassedOver?.({ path: shownPath(source.uri), isFolder: false });
}

/** The column of images. Undefined if there is none, which is reported. */
function columnOf(source: Source, footer: ParquetFooter, options: ListingOptions): ImageColumn | undefined {
  const columns = imageColumns(footer.metadata);
  const path = shownPath(source.uri);
  if (!source.named && (columns.length === 0 || isManifest(footer, options))) {
    options.onPassedOver?.({ path, isFolder: false });
    return undefined;
  }
  const column = chooseColumn(columns, options.column);
  if (column) return column;
  const names = columns.map(({ name }) => `'${name}'`).join(', ');
  const have = columns.length > 0 ? `its columns of bytes are ${names}` : 'it has no column of bytes';
  const reason =
    options.column !== undefined
      ? `The Parquet file has no column '${options.column}' of images: ${have}`
      : columns.length > 0
        ? `The Parquet file has several columns that may hold images: ${names}: name one by --column`
        : "The Parquet file has no column of bytes, as images are; nor is it a manifest: it has neither a column 'path' nor 'uri'";
  if (source.named) throw new SourceNotFoundError(reason.replace('The Parquet file', `The Parquet file '${path}'`));
  throw new InputError('read', reason);
}

/** Decides which rows are inputs, and reports the others. */
function selector(file: Source, { filter, onPassedOver }: ListingOptions): (row: ImageRow) => boolean {
  // The filter sees a path from the folder on that the job names, which may be the file itself.
  const inFilter = file.named ? '' : `${file.name}/`;
  return (row) => {
    const name = pathOf(row) ?? row.row;
    if (filter?.takes(inFilter + name) !== false) return true;
    onPassedOver?.({ path: `${shownPath(file.uri)}/${name}`, isFolder: false, isFiltered: true });
    return false;
  };
}

/** The path beside the image, without empty parts, '.' and '..'. */
function pathOf({ path = '' }: ImageRow): string | undefined {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.' && part !== '..');
  return parts.length > 0 ? parts.join('/') : undefined;
}

function sourceOf(file: Source, row: ImageRow, column: ImageColumn, version: string | undefined): Source {
  const path = pathOf(row);
  const error = path === undefined ? undefined : whyNotRead(path);
  return {
    uri: rowUri(file.uri, { column: column.name, row: row.row, path }),
    name: file.named && path !== undefined ? path : `${file.name}/${path ?? row.row}`,
    sizeBytes: row.meanBytes,
    named: false,
    ...(file.isStated ? { version: file.version!, isStated: true as const } : version !== undefined && { version }),
    ...(error !== undefined && { error }),
  };
}

function whyNotRead(path: string): string | undefined {
  if (hasVideoExtension(path)) return 'A recording in a Parquet file is not read: write it to a file';
  const isTar = isTarName(path) || isCompressedTarName(path);
  return isTar ? 'A tar in a Parquet file is not read: write it to a file' : undefined;
}
