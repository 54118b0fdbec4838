import { parquetHeader } from 'hyparquet/src/column.js';
import { ColumnError } from './column-error.ts';
import type { EncodedColumn } from './column-page.ts';
import { snappyUncompress } from './snappy.ts';

/** Bytes of the header of a page at most. It is read as Parquet is, and what is read has a bound. */
export const maxHeaderBytes = 64;

/** The header of a page as `columnPage` writes it. */
export interface PageHeader extends Pick<EncodedColumn, 'encoding' | 'values' | 'nulls'> {
  rows: number;
  isCompressed: boolean;
  /** Bytes of the header, and of what follows: levels, and values. */
  headerBytes: number;
  repetitionBytes: number;
  definitionBytes: number;
  dataBytes: number;
  /** Bytes of the values without compression. */
  plainBytes: number;
}

/** The header that those bytes begin with. Throws ColumnError where they do not. */
export function readPageHeader(bytes: Uint8Array): PageHeader {
  const view = new DataView(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, maxHeaderBytes));
  const reader = { view, offset: 0 };
  const { data_page_header_v2: head, ...sizes } = parsed(reader);
  if (!head) throw new ColumnError('has a page of another kind');
  // A header may have numbers of another type where these are.
  const repetitionBytes = Number(head.repetition_levels_byte_length);
  const definitionBytes = Number(head.definition_levels_byte_length);
  const levelBytes = repetitionBytes + definitionBytes;
  const header = {
    ...{ rows: Number(head.num_rows), values: Number(head.num_values), nulls: Number(head.num_nulls) },
    ...{ headerBytes: reader.offset, repetitionBytes, definitionBytes },
    dataBytes: Number(sizes.compressed_page_size) - levelBytes,
    plainBytes: Number(sizes.uncompressed_page_size) - levelBytes,
  };
  if (!Object.values(header).every((number) => Number.isSafeInteger(number) && number >= 0)) {
    throw new ColumnError('has a page with numbers that are none');
  }
  return { ...header, encoding: head.encoding, isCompressed: head.is_compressed !== false };
}

/**
 * The values of a page, which have `plainBytes` without compression. Throws ColumnError where they do not, or are more
 * than `most`.
 */
export function pageValues({ isCompressed, plainBytes }: PageHeader, data: Uint8Array, most: number): Uint8Array {
  if (plainBytes > most) throw new ColumnError(`has a page of ${plainBytes} bytes, more than ${most}`);
  if (!isCompressed) return data;
  const plain = new Uint8Array(plainBytes);
  snappyUncompress(data, plain);
  return plain;
}

function parsed(reader: Parameters<typeof parquetHeader>[0]): ReturnType<typeof parquetHeader> {
  try {
    return parquetHeader(reader);
  } catch (error) {
    throw new ColumnError(`has a page without a header: ${(error as Error).message}`);
  }
}
