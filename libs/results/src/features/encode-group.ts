import type { ColumnChunk, RowGroup, SchemaElement } from 'hyparquet';
import { type ColumnLeaf, columnLeaves } from './column-leaves.ts';
import type { ColumnPage, Limits } from './column-page.ts';

/** The pages of all columns that have the same rows. */
export interface RowsPage {
  rows: number;
  columns: readonly ColumnPage[];
}

/** A row group that does not depend on its place in a file. */
export interface EncodedGroup {
  /** The row group's entry in a footer, as if the row group began at byte 0. */
  group: RowGroup;
  /** The bytes of the row group, end to end. */
  pieces: readonly Uint8Array[];
}

/** Makes a row group of pages, whose bytes stay as they are. The pages have the columns of `schema`. */
export function encodeGroup(schema: SchemaElement[], pages: readonly RowsPage[]): EncodedGroup {
  let start = 0;
  const columns = columnLeaves(schema).map((leaf, i) => {
    const its = pages.map((page) => page.columns[i]!);
    const bytes = sumOf(its, (page) => page.bytes.length);
    const chunk = chunkOf(leaf, its, start, bytes);
    start += bytes;
    return chunk;
  });
  const num_rows = BigInt(sumOf(pages, ({ rows }) => rows));
  const total_byte_size = columns.reduce((sum, { meta_data }) => sum + meta_data!.total_uncompressed_size, 0n);
  const group = { columns, total_byte_size, total_compressed_size: BigInt(start), num_rows };
  return { group, pieces: columns.flatMap((_, i) => pages.map((page) => page.columns[i]!.bytes)) };
}

/** The same row group, `by` bytes further in its file. */
export function shiftedGroup(group: RowGroup, by: bigint): RowGroup {
  const columns = group.columns.map(({ file_offset, meta_data }) => {
    const data_page_offset = meta_data!.data_page_offset + by;
    return { file_offset: file_offset + by, meta_data: { ...meta_data!, data_page_offset } };
  });
  return { ...group, columns };
}

function chunkOf({ path, type }: ColumnLeaf, pages: ColumnPage[], start: number, bytes: number): ColumnChunk {
  const limits = pages.map((page) => page.limits).reduce(wider);
  const nulls = sumOf(pages, (page) => page.nulls);
  return {
    meta_data: {
      type,
      encodings: [
        ...new Set(pages.flatMap(({ encoding, hasLevels }) => (hasLevels ? ([encoding, 'RLE'] as const) : encoding))),
      ],
      path_in_schema: path,
      codec: pages.some(({ isCompressed }) => isCompressed) ? 'SNAPPY' : 'UNCOMPRESSED',
      num_values: BigInt(sumOf(pages, ({ values }) => values)),
      total_compressed_size: BigInt(bytes),
      total_uncompressed_size: BigInt(sumOf(pages, ({ plainBytes }) => plainBytes)),
      data_page_offset: BigInt(start),
      statistics: {
        min_value: limits?.least,
        max_value: limits?.largest,
        null_count: BigInt(nulls),
      },
    },
    file_offset: BigInt(start),
  };
}

/** The limits of the values of both. */
function wider(one: Limits | undefined, other: Limits | undefined): Limits | undefined {
  if (!one || !other) return one ?? other;
  return {
    least: isLess(other.least, one.least) ? other.least : one.least,
    largest: isLess(one.largest, other.largest) ? other.largest : one.largest,
  };
}

function isLess(one: Limits['least'], other: Limits['least']): boolean {
  if (one instanceof Uint8Array && other instanceof Uint8Array) return Buffer.compare(one, other) < 0;
  return one < other || (Object.is(one, -0) && Object.is(other, 0));
}

const sumOf = <Item>(items: readonly Item[], of: (item: Item) => number): number =>
  items.reduce((sum, item) => sum + of(item), 0);
