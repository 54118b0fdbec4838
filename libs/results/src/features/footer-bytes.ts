import { type FileMetaData, parquetMetadata } from 'hyparquet';
import { ByteWriter } from 'hyparquet-writer';
import { writeMetadata } from 'hyparquet-writer/src/metadata.js';
import { putListHead } from './thrift-fields.ts';

/** The metadata, apart from row groups, that differ between files. */
type FooterContent = Pick<FileMetaData, 'schema' | 'num_rows' | 'key_value_metadata'>;

/** The bytes of metadata before and behind the list of row groups. */
export interface FooterFrame {
  front: Uint8Array;
  back: Uint8Array;
}

/** The bytes at both ends of a Parquet file. */
export const parquetMark = Buffer.from('PAR1');

/** Bytes of the number, behind the metadata, that says how long the metadata are. */
const lengthBytes = 4;

/** Bytes behind the metadata. */
export const endBytes = lengthBytes + parquetMark.length;

/** Reads texts and times in limits as they are stored, so that they can be written again unchanged. */
export const footerParsers = {
  stringFromBytes: (bytes: Uint8Array) => bytes,
  timestampFromMilliseconds: (milliseconds: bigint) => milliseconds,
};

/** The frame of metadata. It does not depend on the row groups. */
export function footerFrame(content: FooterContent): FooterFrame {
  const none = packMetadata({ ...content, row_groups: [] });
  const one = packMetadata({ ...content, row_groups: [{ columns: [], total_byte_size: 0n, num_rows: 0n }] });
  // The list begins with a byte of its type and length, the first byte that differs.
  const at = none.findIndex((byte, i) => byte !== one[i]);
  return { front: none.subarray(0, at), back: none.subarray(at + groupsHeader(0).length) };
}

function packMetadata(content: FooterContent & Pick<FileMetaData, 'row_groups'>): Uint8Array {
  const writer = new ByteWriter();
  // The writer ends with the length, which endOfFile adds.
  writeMetadata(writer, { version: 2, created_by: 'halogrid', metadata_length: 0, ...content });
  return writer.getBytes().subarray(0, -lengthBytes);
}

/** The first bytes of a list of `groups` row groups. */
export function groupsHeader(groups: number): Uint8Array {
  const writer = new ByteWriter();
  putListHead(writer, 'struct', groups);
  return writer.getBytes();
}

/** The end of a file with these bytes of metadata. */
export function endOfFile(metadata: readonly Uint8Array[]): Buffer {
  const length = Buffer.alloc(lengthBytes);
  length.writeUInt32LE(metadata.reduce((sum, bytes) => sum + bytes.length, 0));
  return Buffer.concat([...metadata, length, parquetMark]);
}

/** Reads the end of a file. */
export const readFooter = (end: Uint8Array): FileMetaData => parquetMetadata(end, { parsers: footerParsers });
