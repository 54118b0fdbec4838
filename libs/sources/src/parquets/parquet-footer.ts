import { type FileMetaData, parquetMetadata, type SchemaElement } from 'hyparquet';
import { DamagedError } from './damaged-error.ts';
import { readThriftStruct } from './thrift-struct.ts';

/**
 * The most bytes of a footer. Decoded, it takes some ten times as much memory. Ten thousand row groups of fifty columns
 * take 60 MiB.
 */
const mostFooterBytes = 2 ** 26;
/**
 * The most rows of a row group: values of one group are held at a time, some hundred bytes a row. Programs write a
 * million or fewer.
 */
const mostGroupRows = 2 ** 22;
/** The most levels of fields within fields. */
const mostSchemaLevels = 64;

/** The bytes of a file. */
export interface FileBytes {
  readonly sizeBytes: number;
  /** Those bytes, which lie in the file; valid until the next call. */
  read(position: number, length: number): Promise<Uint8Array>;
}

/** The decoded footer, and where it begins. */
export interface ParquetFooter {
  metadata: FileMetaData;
  dataEnd: number;
}

/** A field that has values: those from the root to it. */
export interface Leaf {
  path: readonly SchemaElement[];
  field: SchemaElement;
}

type ColumnMetaData = NonNullable<FileMetaData['row_groups'][number]['columns'][number]['meta_data']>;

/** A chunk of a column, and where it begins in the file. */
export interface ColumnBytes {
  start: number;
  rows: number;
  chunk: ColumnMetaData;
}

/** Throws DamagedError, and what hyparquet throws. */
export async function readFooter(file: FileBytes): Promise<ParquetFooter> {
  const magic = 'PAR1';
  const size = file.sizeBytes;
  if (size < 12) throw notParquet();
  const tail = Buffer.from(await file.read(size - 8, 8));
  if (tail.toString('latin1', 4) !== magic) throw notParquet();
  const footerBytes = tail.readUInt32LE(0);
  const dataEnd = size - 8 - footerBytes;
  if (dataEnd < magic.length) throw new DamagedError('its footer is longer than the file');
  if (footerBytes > mostFooterBytes) throw new DamagedError(`its footer has more than ${mostFooterBytes} bytes`);
  // hyparquet needs a buffer of its own.
  const footer = new Uint8Array(await file.read(dataEnd, size - dataEnd));
  readThriftStruct(footer.subarray(0, footerBytes));
  return { metadata: parquetMetadata(footer.buffer, { geoparquet: false }), dataEnd };
}

const notParquet = (): DamagedError => new DamagedError('it is not a Parquet file, or cut off');

/** The fields that have values, in their order. Throws DamagedError if the schema is not a tree. */
export function leavesOf({ schema }: Pick<FileMetaData, 'schema'>): Leaf[] {
  const leaves: Leaf[] = [];
  let at = 1;
  const pass = (above: readonly SchemaElement[], children: number): void => {
    if (above.length > mostSchemaLevels) throw new DamagedError('its fields lie too deep');
    for (let i = 0; i < children; i++) {
      const field = schema[at++];
      if (!field) throw new DamagedError('its schema is not whole');
      const path = [...above, field];
      if (field.num_children) pass(path, field.num_children);
      else if (field.type) leaves.push({ path, field });
    }
  };
  pass([], schema[0]?.num_children ?? 0);
  if (schema[0]?.repetition_type === 'REPEATED' || at !== schema.length)
    throw new DamagedError('its schema is not whole');
  return leaves;
}

/** Whether the fields have one value a row, or none. */
export const isOfRows = ({ path }: Leaf): boolean =>
  path.every(({ repetition_type }) => repetition_type !== 'REPEATED');

/** The fields directly below the root with one value a row, by name. Throws DamagedError. */
export const flatColumns = (metadata: FileMetaData): Map<string, Leaf> =>
  new Map(
    leavesOf(metadata)
      .filter((leaf) => leaf.path.length === 1 && isOfRows(leaf))
      .map((leaf) => [leaf.field.name, leaf]),
  );

export const nameOf = ({ path }: Leaf): string => path.map(({ name }) => name).join('.');

/**
 * Checks what a footer says of fields with one value a row: the number of rows is in bounds, and chunks are inside the
 * file, with at most `mostBytes`. Throws DamagedError. Returns the chunks of each row group.
 */
export function chunksOf(
  { metadata, dataEnd }: ParquetFooter,
  leaves: readonly Leaf[],
  mostBytes = Number.POSITIVE_INFINITY,
): ColumnBytes[][] {
  let rows = 0n;
  const chunks = metadata.row_groups.map((group) => {
    rows += group.num_rows;
    if (group.num_rows < 0n) throw new DamagedError('it has a row group of fewer than 0 rows');
    if (group.num_rows > mostGroupRows) throw new DamagedError(`it has a row group of more than ${mostGroupRows} rows`);
    return leaves.map((leaf) => {
      const found = group.columns.filter(({ meta_data }) => meta_data && isAt(leaf, meta_data.path_in_schema));
      const name = nameOf(leaf);
      if (found.length !== 1) throw new DamagedError(`a row group of it has ${found.length} columns '${name}'`);
      const column = bytesOf(found[0]!.meta_data!, name, group.num_rows, dataEnd);
      if (column.chunk.total_compressed_size > mostBytes)
        throw new DamagedError(`a row group has more than ${mostBytes} bytes of its column '${name}'`);
      return column;
    });
  });
  if (rows !== metadata.num_rows) throw new DamagedError('its row groups have other rows than it says');
  return chunks;
}

/** hyparquet finds a column below the root by its first name alone. */
const isAt = ({ path }: Leaf, names: readonly string[]): boolean =>
  (path.length === 1 || names.length === path.length) && path.every(({ name }, i) => name === names[i]);

function bytesOf(chunk: ColumnMetaData, column: string, rows: bigint, dataEnd: number): ColumnBytes {
  const { num_values, total_compressed_size: size, data_page_offset, dictionary_page_offset } = chunk;
  // As in hyparquet: 0 means that there is no dictionary.
  const start = dictionary_page_offset || data_page_offset;
  const isInFile = start >= 4n && size >= 0n && start + size <= BigInt(dataEnd);
  if (!isInFile) throw new DamagedError(`a part of its column '${column}' lies outside of the file`);
  if (num_values !== rows) throw new DamagedError(`its column '${column}' has other values than rows`);
  return { start: Number(start), rows: Number(rows), chunk };
}
