import { type FileMetaData, parquetMetadata } from 'hyparquet';
import { ByteWriter } from 'hyparquet-writer';
import { writeMetadata } from 'hyparquet-writer/src/metadata.js';
import { putListHead } from './thrift-fields.ts';

/** What metadata say beside row groups that is not the same for all files. */
type FooterContent = Pick<FileMetaData, 'schema' | 'num_rows' | 'key_value_metadata'>;

/** Metadata without the list of row groups: what is before and behind it. */
export interface FooterFrame {
  front: Uint8Array;
  back: Uint8Array;
}

/** At both ends of a file. */
export const parquetMark = Buffer.from('PAR1');

/** Behind the metadata is how long they are. */
const lengthBytes = 4;

/** Bytes behind the metadata. */
export const endBytes = lengthBytes + parquetMark.length;

/** Texts and times in limits are read as they are stored, so that they can be written again as they were. */
export const footerParsers = {
  stringFromBytes: (bytes: Uint8Array) => bytes,
  timestampFromMilliseconds: (milliseconds: bigint) => milliseconds,
};

/** That of metadata whatever their row groups. */
export function footerFrame(content: FooterContent): FooterFrame {
  const none = packMetadata({ ...content, row_groups: [] });
  const one = packMetadata({ ...content, row_groups: [{ columns: [], total_byte_size: 0n, num_rows: 0n }] });
  // The list begins with its type and length.
  const at = none.findIndex((byte, i) => byte !== one[i]);
  return { front: none.subarray(0, at), back: none.subarray(at + groupsHeader(0).length) };
}

function packMetadata(content: FooterContent & Pick<FileMetaData, 'row_groups'>): Uint8Array {
  const writer = new ByteWriter();
  // The length is not written.
  writeMetadata(writer, { version: 2, created_by: 'halogrid', metadata_length: 0, ...content });
  return writer.getBytes().subarray(0, -lengthBytes);
}

/** What the list of so many row groups begins with. */
export function groupsHeader(groups: number): Uint8Array {
  const writer = new ByteWriter();
  putListHead(writer, 'struct', groups);
  return writer.getBytes();
}

/** What a file ends with whose metadata are these bytes. */
export function endOfFile(metadata: readonly Uint8Array[]): Buffer {
  const length = Buffer.alloc(lengthBytes);
  length.writeUInt32LE(metadata.reduce((sum, bytes) => sum + bytes.length, 0));
  return Buffer.concat([...metadata, length, parquetMark]);
}

/** Reads that. */
export const readFooter = (end: Uint8Array): FileMetaData => parquetMetadata(end, { parsers: footerParsers });
