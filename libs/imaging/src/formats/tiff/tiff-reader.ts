import { InputError, type InputFile } from '@halogrid/sources';
import { nameOfTag } from './tag-names.ts';

/** The bytes of a value of each unsigned integer type, by the type's number. */
const integerBytes: Record<number, number> = { 1: 1, 3: 2, 4: 4, 13: 4, 16: 8, 18: 8 };

/** The same for the other types: text, signed integers, fractions, floating point. */
const otherBytes: Record<number, number> = { 2: 1, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 17: 8 };

const asciiType = 2;
const fractionType = 5;
const doubleType = 12;

export interface TiffEntry {
  tag: number;
  type: number;
  count: number;
  /** The value itself if it fits, or else its place in the file. */
  inline: Buffer;
}

export interface TiffDirectory {
  /** The byte of the file at which it begins. */
  start: number;
  /** By tag. If a tag has several entries, the first counts. */
  entries: Map<number, TiffEntry>;
  /** Where the next directory is; 0: there is none. */
  next: number;
}

/** Reads the parts of a TIFF or BigTIFF, in either byte order. */
export class TiffReader {
  readonly isBigEndian: boolean;
  readonly #file: InputFile;
  readonly #big: boolean;

  constructor(file: InputFile) {
    this.#file = file;
    this.isBigEndian = file.head[0] === 0x4d;
    this.#big = file.head[this.isBigEndian ? 3 : 2] === 43;
  }

  async readFirstDirectory(): Promise<TiffDirectory> {
    const word = this.#big ? 8 : 4;
    return await this.readDirectory(this.#integer(await this.#bytes(word, word, 'first directory'), 0, word));
  }

  /** The directory at that byte. */
  async readDirectory(start: number): Promise<TiffDirectory> {
    const word = this.#big ? 8 : 4;
    const countBytes = this.#big ? 8 : 2;
    const entryBytes = this.#big ? 20 : 12;
    const count = this.#integer(await this.#bytes(start, countBytes, 'directory'), 0, countBytes);
    // Seen in practice: a few dozen. The format allows 65535 in a classic file.
    if (count > 65535) throw new InputError('decode', `The TIFF is damaged: its directory claims ${count} entries`);
    const bytes = await this.#bytes(start + countBytes, count * entryBytes, 'directory');
    const entries = new Map<number, TiffEntry>();
    for (let at = 0; at < bytes.length; at += entryBytes) {
      const tag = this.#integer(bytes, at, 2);
      if (entries.has(tag)) continue;
      entries.set(tag, {
        tag,
        type: this.#integer(bytes, at + 2, 2),
        count: this.#integer(bytes, at + 4, word),
        inline: bytes.subarray(at + 4 + word, at + 4 + 2 * word),
      });
    }
    // A file may end with its last directory, without the place of a next one.
    const nextAt = start + countBytes + bytes.length;
    const hasNext = nextAt + word <= this.#file.sizeBytes;
    const next = hasNext ? this.#integer(await this.#bytes(nextAt, word, 'directory'), 0, word) : 0;
    return { start, entries, next };
  }

  hasIntegers({ type, count }: TiffEntry): boolean {
    return integerBytes[type] !== undefined && count > 0;
  }

  /** Up to `max` values of an entry, from its value `from` on; at least one. */
  async integers(entry: TiffEntry, max: number, from = 0): Promise<number[]> {
    const size = integerBytes[entry.type];
    if (!size) throw damaged(entry, `has no whole numbers (type ${entry.type})`);
    const bytes = await this.#values(entry, size, from, max);
    return Array.from({ length: bytes.length / size }, (_, i) => this.#integer(bytes, i * size, size));
  }

  /** The same for an entry of fractions or integers. */
  async numbers(entry: TiffEntry, max: number): Promise<number[]> {
    if (entry.type !== fractionType) return await this.integers(entry, max);
    const bytes = await this.#values(entry, 8, 0, max);
    return Array.from(
      { length: bytes.length / 8 },
      (_, i) => this.#integer(bytes, i * 8, 4) / this.#integer(bytes, i * 8 + 4, 4),
    );
  }

  /** Up to `max` values of an entry of doubles. */
  async doubles(entry: TiffEntry, max: number): Promise<number[]> {
    if (entry.type !== doubleType) throw damaged(entry, `has no doubles (type ${entry.type})`);
    const bytes = await this.#values(entry, 8, 0, max);
    return Array.from({ length: bytes.length / 8 }, (_, i) =>
      this.isBigEndian ? bytes.readDoubleBE(i * 8) : bytes.readDoubleLE(i * 8),
    );
  }

  /** The bytes of an entry of any type, at most `max`. */
  async bytes(entry: TiffEntry, max: number): Promise<Buffer> {
    const size = integerBytes[entry.type] ?? otherBytes[entry.type];
    if (!size) throw damaged(entry, `is of the unknown type ${entry.type}`);
    return await this.#values(entry, size, 0, Math.floor(max / size));
  }

  /** The first `max` characters of a text entry; empty for an entry of another type. */
  async text(entry: TiffEntry, max: number): Promise<string> {
    if (entry.type !== asciiType || entry.count === 0) return '';
    return (await this.#values(entry, 1, 0, max)).toString('latin1');
  }

  async #values(entry: TiffEntry, size: number, from: number, max: number): Promise<Buffer> {
    const { count, inline, tag } = entry;
    if (count <= from) throw damaged(entry, `has ${count} values where ${from + 1} are needed`);
    const length = Math.min(count - from, max) * size;
    if (count * size <= inline.length) return inline.subarray(from * size, from * size + length);
    const start = this.#integer(inline, 0, inline.length);
    return await this.#bytes(start + from * size, length, `tag ${nameOfTag(tag)}`);
  }

  #integer(bytes: Buffer, at: number, size: number): number {
    if (size === 8) return Number(this.isBigEndian ? bytes.readBigUInt64BE(at) : bytes.readBigUInt64LE(at));
    return this.isBigEndian ? bytes.readUIntBE(at, size) : bytes.readUIntLE(at, size);
  }

  /** `what` names the bytes in messages. */
  async #bytes(position: number, length: number, what: string): Promise<Buffer> {
    if (position + length > this.#file.sizeBytes) {
      throw new InputError('decode', `The TIFF is cut off or damaged: its ${what} is beyond the end of the file`);
    }
    if (this.#file.kind === 'remote' && position + length > this.#file.head.length) {
      // The next read is usually close.
      await this.#file.copyParts([{ start: position, end: position + Math.max(length, this.#file.gapBytes) }]);
    }
    const bytes = Buffer.allocUnsafe(length);
    await this.#file.read(bytes, position);
    return bytes;
  }
}

const damaged = ({ tag }: TiffEntry, how: string): InputError =>
  new InputError('decode', `The TIFF is damaged: its tag ${nameOfTag(tag)} ${how}`);
