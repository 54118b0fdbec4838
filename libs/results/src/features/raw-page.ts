import { parquetHeader } from 'hyparquet/src/column.js';
import { ColumnError } from './column-error.ts';
import type { EncodedColumn } from './column-page.ts';
import { snappyUncompress } from './snappy.ts';

/** The most bytes of a page's header. A general decoder reads headers, so it gets no more bytes than these. */
export const maxHeaderBytes = 64;

/** The header of a page of `columnPage`. */
export interface PageHeader extends Pick<EncodedColumn, 'encoding' | 'values' | 'nulls'> {
  rows: number;
  isCompressed: boolean;
  /** Bytes of the header, and of the levels and values that follow. */
  headerBytes: number;
  repetitionBytes: number;
  definitionBytes: number;
  dataBytes: number;
  /** Bytes of the values without compression. */
  plainBytes: number;
}

/** Reads the header that `bytes` begin with. Throws ColumnError if they do not begin with one. */
export function readPageHeader(bytes: Uint8Array): PageHeader {
  const view = new DataView(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, maxHeaderBytes));
  const reader = { view, offset: 0 };
  const { data_page_header_v2: head, ...sizes } = parsed(reader);
  if (!head) throw new ColumnError('has a page of another kind');
  // A forged header may have values of another type here.
  const repetitionBytes = Number(head.repetition_levels_byte_length);
  const definitionBytes = Number(head.definition_levels_byte_length);
  const levelBytes = repetitionBytes + definitionBytes;
  const header = {
    rows: Number(head.num_rows),
    values: Number(head.num_values),
    nulls: Number(head.num_nulls),
    headerBytes: reader.offset,
    repetitionBytes,
    definitionBytes,
    dataBytes: Number(sizes.compressed_page_size) - levelBytes,
    plainBytes: Number(sizes.uncompressed_page_size) - levelBytes,
  };
  if (!Object.values(header).every((number) => Number.isSafeInteger(number) && number >= 0)) {
    throw new ColumnError('has a page with impossible numbers');
  }
  return { ...header, encoding: head.encoding, isCompressed: head.is_compressed !== false };
}

/**
 * The values of a page without compression. Throws ColumnError if they do not have `plainBytes`, or have more than
 * `most` bytes.
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
