import type { FileMetaData, RowGroup } from 'hyparquet';
import { deserializeTCompactProtocol } from 'hyparquet/src/thrift.js';
import { ByteWriter } from 'hyparquet-writer';
import { writeMetadata } from 'hyparquet-writer/src/metadata.js';
import { serializeTCompactProtocol } from 'hyparquet-writer/src/thrift.js';

/** What a file says of itself but its row groups. */
export type FileFacts = Omit<FileMetaData, 'row_groups' | 'metadata_length'>;

/** In a row group as bytes: columns, what is said of one, and its type. */
interface PackedGroup {
  field_1: { field_3: { field_1: number } }[];
}

/** The number of int64 among the types of the format. */
const int64 = 2;

/** Elements of a short list are told in the byte of its type, which is that of structures. */
const structures = 12;
const mostShort = 14;
const longList = 0xf0 | structures;

/** Behind the metadata is their length. */
const lengthBytes = 4;

const noGroup: RowGroup = { columns: [], total_byte_size: 0n, num_rows: 0n };

/**
 * The row groups of a Parquet file as its footer will have them. As objects those of ten million rows, of which a thousand are a group,
 * take 100 MB; as bytes they take a kilobyte each. The file's metadata are written by hyparquet-writer, and the list of groups is put in.
 */
export class RowGroupList {
  readonly #groups: Uint8Array[] = [];
  /** What is around a list of groups in a file of no rows; writing it for each group was a fifth of the time of taking one (measured). */
  #around: ReturnType<typeof around> | undefined;

  /** Takes a group of a file with those facts, of which only the rows become more. */
  add(group: RowGroup, facts: FileFacts): void {
    const ofNoRows = { ...facts, num_rows: 0n };
    this.#around ??= around(ofNoRows);
    const { before, behind } = this.#around;
    const bytes = metadataOf(ofNoRows, [group]);
    this.#groups.push(bytes.slice(before.length + 1, bytes.length - behind.length));
  }

  /** Makes the last column of every group one of int64. */
  widenLast(): void {
    for (const [i, bytes] of this.#groups.entries()) {
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      const group = deserializeTCompactProtocol({ view, offset: 0 }) as unknown as PackedGroup;
      group.field_1.at(-1)!.field_3.field_1 = int64;
      const writer = new ByteWriter();
      serializeTCompactProtocol(writer, { ...group });
      this.#groups[i] = writer.getBytes();
    }
  }

  /** Puts the metadata of a file with those facts and these groups behind what is written, with their length. */
  write(writer: ByteWriter, facts: FileFacts): void {
    const start = writer.offset;
    const { before, behind } = around(facts);
    const count = this.#groups.length;
    writer.appendBytes(before);
    if (count === 0) writer.appendUint8(0);
    else if (count <= mostShort) writer.appendUint8((count << 4) | structures);
    else {
      writer.appendUint8(longList);
      writer.appendVarInt(count);
    }
    for (const group of this.#groups) writer.appendBytes(group);
    writer.appendBytes(behind);
    writer.appendUint32(writer.offset - start);
  }
}

/** The metadata before the head of the list of row groups, a byte where they are few, and behind the list. */
function around(facts: FileFacts): { before: Uint8Array; behind: Uint8Array } {
  const none = metadataOf(facts, []);
  const one = metadataOf(facts, [noGroup]);
  let head = 0;
  while (none[head] === one[head]) head++;
  return { before: none.subarray(0, head), behind: none.subarray(head + 1) };
}

function metadataOf(facts: FileFacts, row_groups: RowGroup[]): Uint8Array {
  const writer = new ByteWriter();
  // Its length is found out where it is written.
  writeMetadata(writer, { ...facts, row_groups } as FileMetaData);
  return writer.getBytes().subarray(0, -lengthBytes);
}
