import { crc32 } from 'node:zlib';

/** Facts of one append, which count together or not at all. */
export type Facts = readonly Uint8Array[];

/** Where a group lies in its log. */
export interface GroupPlace {
  /** Its first byte. */
  offset: number;
  /** The byte behind it. */
  end: number;
  /** First byte of the last group with a checkpoint, which may be this group. */
  checkpoint: number;
}

/** A group of a log. */
export interface Group extends GroupPlace {
  facts: Uint8Array[];
}

/** The most bytes of a group, with its head. */
export const maxGroupBytes = 2 ** 30;

const magic = 0x686c6f67;
/** Bytes of a group's head. */
export const groupHeadBytes = 20;
const lengthBytes = 4;

/**
 * The bytes of a group that begins at `offset` of the log `logName`, in pieces that share the facts' memory:
 *
 *     magic, length   uint32 little-endian; `length` is the number of bytes after the head
 *     checksum        CRC-32 of the log's name, the offset, the length, the checkpoint and the facts
 *     checkpoint      uint64: where the last group with a checkpoint begins
 *     facts           for each fact its length, uint32, and its bytes
 *
 * The checksum covers the name and the offset, so that bytes of another log or from another place do not count as a
 * group. Throws RangeError if the group would be longer than `maxGroupBytes`.
 */
export function packGroup(
  logName: string,
  { offset, checkpoint }: Pick<GroupPlace, 'offset' | 'checkpoint'>,
  facts: Facts,
): Uint8Array[] {
  const pieces = facts.flatMap((fact) => [uint32(fact.length), fact]);
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  if (groupHeadBytes + length > maxGroupBytes) throw new RangeError(`A group of facts has ${length} bytes`);
  let checksum = seed(logName, offset, length, checkpoint);
  for (const piece of pieces) checksum = crc32(piece, checksum);
  const head = Buffer.concat([uint32(magic), uint32(length), uint32(checksum), uint64(checkpoint)]);
  return [head, ...pieces];
}

/** The offset in the log of each fact of a group that begins at `offset`. */
export function* factOffsets(offset: number, facts: Facts): Generator<number> {
  let at = offset + groupHeadBytes;
  for (const { length } of facts) {
    yield at + lengthBytes;
    at += lengthBytes + length;
  }
}

/**
 * Length in bytes of the group whose head is at `at` of `bytes`; undefined if there is no head, or it cannot be right.
 */
export function groupLength(bytes: Buffer, at = 0): number | undefined {
  if (bytes.length - at < groupHeadBytes || bytes.readUInt32LE(at) !== magic) return undefined;
  const whole = groupHeadBytes + bytes.readUInt32LE(at + 4);
  return whole <= maxGroupBytes ? whole : undefined;
}

/** The group at the beginning of `bytes`, which is at `offset` of the log; undefined if it is incomplete or damaged. */
export function readGroup(logName: string, offset: number, bytes: Buffer): Group | undefined {
  const whole = groupLength(bytes);
  if (whole === undefined || whole > bytes.length) return undefined;
  const content = bytes.subarray(groupHeadBytes, whole);
  const checkpoint = Number(bytes.readBigUInt64LE(12));
  if (crc32(content, seed(logName, offset, content.length, checkpoint)) !== bytes.readUInt32LE(8)) return undefined;
  const facts: Uint8Array[] = [];
  for (let at = 0; at < content.length; ) {
    const length = content.readUInt32LE(at);
    facts.push(content.subarray(at + lengthBytes, at + lengthBytes + length));
    at += lengthBytes + length;
  }
  return { facts, offset, end: offset + whole, checkpoint };
}

/** The first offset in `bytes` from `from` on where a group may begin; -1 if there is none. */
export const nextMagic = (bytes: Buffer, from: number): number => bytes.indexOf(magicBytes, from);

/** The last offset in `bytes` up to `to` where a group may begin; -1 if there is none. */
export const lastMagic = (bytes: Buffer, to: number): number => (to < 0 ? -1 : bytes.lastIndexOf(magicBytes, to));

const seed = (logName: string, offset: number, length: number, checkpoint: number): number =>
  crc32(`${logName} ${offset} ${length} ${checkpoint}`);

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(lengthBytes);
  bytes.writeUInt32LE(value);
  return bytes;
}

function uint64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}

const magicBytes = uint32(magic);
