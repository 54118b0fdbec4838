import { type FileMetaData, parquetMetadata } from 'hyparquet';
import { ByteWriter } from 'hyparquet-writer';
import { writeMetadata } from 'hyparquet-writer/src/metadata.js';

/** What metadata say that is not the same for all files. */
export type FooterContent = Pick<FileMetaData, 'schema' | 'num_rows' | 'row_groups' | 'key_value_metadata'>;

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

/** Bytes of the least and the largest text of a column and row group; of longer ones metadata say what lies beyond. */
const limitBytes = 256;

/** Texts and times in limits are read as they are stored, so that they can be written again as they were. */
export const footerParsers = {
  stringFromBytes: (bytes: Uint8Array) => bytes,
  timestampFromMilliseconds: (milliseconds: bigint) => milliseconds,
};

export function packMetadata(content: FooterContent): Uint8Array {
  const writer = new ByteWriter();
  // The length is not written.
  writeMetadata(writer, { version: 2, created_by: 'halogrid', metadata_length: 0, ...content }, limitBytes);
  return writer.getBytes().subarray(0, -lengthBytes);
}

/** That of metadata whatever their row groups. */
export function footerFrame(content: Omit<FooterContent, 'row_groups'>): FooterFrame {
  const none = packMetadata({ ...content, row_groups: [] });
  const one = packMetadata({ ...content, row_groups: [{ columns: [], total_byte_size: 0n, num_rows: 0n }] });
  // The list begins with its type and length.
  const at = none.findIndex((byte, i) => byte !== one[i]);
  return { front: none.subarray(0, at), back: none.subarray(at + groupsHeader(0).length) };
}

/** What the list of so many row groups begins with. */
export function groupsHeader(groups: number): Uint8Array {
  const [struct, isLonger] = [12, 15];
  if (groups === 0) return Uint8Array.of(0);
  if (groups < isLonger) return Uint8Array.of((groups << 4) | struct);
  const writer = new ByteWriter();
  writer.appendUint8((isLonger << 4) | struct);
  writer.appendVarInt(groups);
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
