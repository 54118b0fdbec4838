/** What the header of a member says. */
export interface TarHeader {
  /** Its path, byte for byte. */
  name: Buffer;
  size: number;
  /** One character: see the manual of GNU tar, or POSIX (pax). */
  type: string;
}

/** A tar consists of blocks of this size. */
export const blockBytes = 512;

/** A block as the header of a member; undefined if it is not one, by its checksum. 'end': the block is empty. */
export function readTarHeader(block: Buffer): TarHeader | 'end' | undefined {
  // Nearly all blocks have a name, which is looked at before the rest.
  if (block[0] === 0 && block.every((byte) => byte === 0)) return 'end';
  const size = readNumber(block.subarray(124, 136));
  if (!hasChecksum(block) || size === undefined) return undefined;
  const name = textOf(block.subarray(0, 100));
  // Only POSIX's form has a prefix; GNU keeps other numbers there.
  const prefix = block.toString('latin1', 257, 263) === 'ustar\0' ? textOf(block.subarray(345, 500)) : Buffer.alloc(0);
  const type = block.toString('latin1', 156, 157);
  return { name: prefix.length > 0 ? Buffer.concat([prefix, slash, name]) : name, size, type };
}

/** What the records of an extended header (pax) say of the next member. */
export interface PaxFacts {
  name?: Buffer;
  size?: number;
  isSparse?: true;
}

/** Reads records, each `LENGTH KEY=VALUE` and a line feed; undefined if they are damaged. */
export function readPax(bytes: Buffer): PaxFacts | undefined {
  const facts: PaxFacts = {};
  for (let at = 0; at < bytes.length; ) {
    const [lead, digits] = /^(\d{1,7}) /.exec(bytes.toString('latin1', at, at + 8)) ?? [];
    const end = at + Number(digits);
    const equals = bytes.indexOf('=', at);
    if (lead === undefined || end > bytes.length || equals < 0 || equals >= end) return undefined;
    const key = bytes.toString('latin1', at + lead.length, equals);
    const value = bytes.subarray(equals + 1, end - 1);
    if (key === 'path') facts.name = textOf(value);
    if (key === 'GNU.sparse.name') facts.name = textOf(value);
    if (key.startsWith('GNU.sparse.')) facts.isSparse = true;
    if (key === 'size') {
      // A negative size would lead back.
      if (!/^\d{1,15}$/.test(value.toString('latin1'))) return undefined;
      facts.size = Number(value.toString('latin1'));
    }
    at = end;
  }
  return facts;
}

const slash = Buffer.from('/');

/** The bytes before the first NUL. */
export function textOf(field: Buffer): Buffer {
  const end = field.indexOf(0);
  return end < 0 ? field : field.subarray(0, end);
}

/** Octal digits, or if the first bit is set, a number to base 256. */
function readNumber(field: Buffer): number | undefined {
  let value = 0;
  if (field[0]! & 0x80) {
    for (const [i, byte] of field.entries()) value = value * 256 + (i === 0 ? byte & 0x7f : byte);
  } else {
    const digits = /^ *([0-7]*)[ \0]*$/.exec(field.toString('latin1'))?.[1];
    if (digits === undefined) return undefined;
    value = Number.parseInt(digits || '0', 8);
  }
  return Number.isSafeInteger(value) ? value : undefined;
}

/** The sum of all bytes, with spaces in place of the stated one. Old programs added signed bytes. */
function hasChecksum(block: Buffer): boolean {
  const stated = readNumber(block.subarray(148, 156));
  let sum = 0;
  let signed = 0;
  for (let i = 0; i < blockBytes; i++) {
    const counted = i >= 148 && i < 156 ? 0x20 : block[i]!;
    sum += counted;
    signed += (counted << 24) >> 24;
  }
  return stated === sum || stated === signed;
}
