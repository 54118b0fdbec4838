import type { CompressionCodec } from 'hyparquet';
import { DamagedError } from './thrift-struct.ts';

/**
 * The most bytes of a footer. Decoded, it takes some ten times as much memory. Ten thousand row groups of fifty columns
 * take 60 MiB.
 */
export const mostFooterBytes = 2 ** 26;
/**
 * The most rows of a row group: one group is held at a time, some hundred bytes a row. Programs write a million or
 * fewer.
 */
const mostGroupRows = 2 ** 22;
/** The most bytes read of a column of a row group: texts of 256 bytes in the most rows allowed. */
export const mostChunkBytes = 2 ** 30;
/** The most levels of fields within fields. */
const mostSchemaLevels = 64;

/** The parts of a decoded footer that are checked. */
export interface ParquetFooter {
  schema: readonly SchemaField[];
  num_rows: bigint;
  row_groups: readonly { num_rows: bigint; columns: readonly ParquetChunk[] }[];
}

export interface SchemaField {
  name: string;
  type?: string | undefined;
  num_children?: number | undefined;
  repetition_type?: string | undefined;
}

export interface ParquetChunk {
  meta_data?:
    | {
        path_in_schema: readonly string[];
        codec: CompressionCodec;
        num_values: bigint;
        /** The bytes that are read; reduced to the pages that were checked. */
        total_compressed_size: bigint;
        data_page_offset: bigint;
        dictionary_page_offset?: bigint | undefined;
      }
    | undefined;
}

/** A chunk of a column, and where it begins in the file. */
export interface ColumnBytes {
  start: number;
  chunk: NonNullable<ParquetChunk['meta_data']>;
}

/**
 * The columns that lie directly below the root and have one value a row, by name. Throws DamagedError if the schema is
 * not a tree.
 */
export function flatColumns({ schema }: ParquetFooter): Map<string, SchemaField> {
  const flat = new Map<string, SchemaField>();
  let at = 1;
  const pass = (children: number, level: number): void => {
    if (level > mostSchemaLevels) throw new DamagedError('its fields lie too deep');
    for (let i = 0; i < children; i++) {
      const field = schema[at++];
      if (!field) throw new DamagedError('its schema is not whole');
      if (field.num_children) pass(field.num_children, level + 1);
      else if (level === 0 && field.type && field.repetition_type !== 'REPEATED') flat.set(field.name, field);
    }
  };
  pass(schema[0]?.num_children ?? 0, 0);
  if (schema[0]?.repetition_type === 'REPEATED' || at !== schema.length)
    throw new DamagedError('its schema is not whole');
  return flat;
}

/**
 * Checks what a footer says of the flat columns `columns`: the number of rows is in bounds, and chunks are inside the
 * file. Throws DamagedError. Returns the chunks of each row group.
 */
export function chunksOf(footer: ParquetFooter, columns: readonly string[], dataEnd: number): ColumnBytes[][] {
  let rows = 0n;
  const chunks = footer.row_groups.map((group) => {
    rows += group.num_rows;
    if (group.num_rows < 0n) throw new DamagedError('it has a row group of fewer than 0 rows');
    if (group.num_rows > mostGroupRows) throw new DamagedError(`it has a row group of more than ${mostGroupRows} rows`);
    return columns.map((column) => {
      const found = group.columns.filter(({ meta_data }) => meta_data?.path_in_schema[0] === column);
      if (found.length !== 1) throw new DamagedError(`a row group of it has ${found.length} columns '${column}'`);
      return bytesOf(found[0]!, column, group.num_rows, dataEnd);
    });
  });
  if (rows !== footer.num_rows) throw new DamagedError('its row groups have other rows than it says');
  return chunks;
}

function bytesOf({ meta_data }: ParquetChunk, column: string, rows: bigint, dataEnd: number): ColumnBytes {
  const chunk = meta_data!;
  const { num_values, total_compressed_size: size, data_page_offset, dictionary_page_offset } = chunk;
  // As in hyparquet: 0 means that there is no dictionary.
  const start = dictionary_page_offset || data_page_offset;
  const isInFile = start >= 4n && size >= 0n && start + size <= BigInt(dataEnd);
  if (!isInFile) throw new DamagedError(`a part of its column '${column}' lies outside of the file`);
  if (num_values !== rows) throw new DamagedError(`its column '${column}' has other values than rows`);
  if (size > mostChunkBytes) {
    throw new DamagedError(`a row group has more than ${mostChunkBytes} bytes of its column '${column}'`);
  }
  return { start: Number(start), chunk };
}
