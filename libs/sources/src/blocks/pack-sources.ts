import { crc32 } from 'node:zlib';
import { varintsLength, writeVarints } from '@halogrid/proto/varints';
import { copyBytes } from './copy-bytes.ts';
import {
  type BlockSource,
  blockFormat,
  maxBlockSources,
  maxBlockText,
  optionalColumns,
  SourceBlock,
  versionTags,
} from './source-block.ts';
import { timeOf } from './time-of-version.ts';

/**
 * The block of bytes of these sources, in their order, as SourceBlock reads it. 20 bytes for a frame of a folder, with size
 * and version. Throws RangeError where they are more than a block holds.
 */
export function packSources(sources: Iterable<BlockSource>): Uint8Array {
  const packer = new SourcePacker();
  for (const source of sources) packer.add(source);
  return packer.pack();
}

/** The block of the sources from one place of a block up to another, which is left out. Throws SourceBlockError. */
export function cutSources(block: Uint8Array, from: number, end: number): Uint8Array {
  return packSources(new SourceBlock(block).slice(from, end));
}

const slash = 0x2f;

/** Makes such a block of sources that are told one by one. `add` throws RangeError as well. */
export class SourcePacker {
  readonly #indexes: number[] = [];
  readonly #shared: number[] = [];
  readonly #rest: number[] = [];
  readonly #sizes: number[] = [];
  readonly #versions: number[] = [];
  readonly #names: number[] = [];
  readonly #packets: number[] = [];
  readonly #orders: number[] = [];
  readonly #previews: number[] = [];
  readonly #times: number[] = [];
  readonly #uris = new Text();
  readonly #ownNames = new Text();
  readonly #ownVersions = new Text();
  /** The URI before, and room for the next. */
  #before = Buffer.allocUnsafe(256);
  #beforeBytes = 0;
  #now = Buffer.allocUnsafe(256);
  /** Where the folder of the URI before ends. */
  #slashAt = 0;
  #next = 0;
  #nextPreview = 0;
  #uriBytes = 0;
  #optional = 0;

  /** Returns whether its folder may be another than that of the one before, which is never missed. */
  add({ index, uri, sizeBytes, name, version, preview, place }: BlockSource): boolean {
    const nth = this.#indexes.length;
    const step = index - this.#next;
    this.#indexes.push(step < 0 ? -2 * step - 1 : 2 * step);
    this.#next = index + 1;
    const isElsewhere = this.#uri(uri);
    this.#sizes.push(sizeBytes);
    this.#version(version, sizeBytes);
    if (name !== undefined) this.#optional |= optionalColumns.names;
    this.#names.push(this.#name(name ?? '', uri));
    if (place) this.#optional |= optionalColumns.places;
    this.#packets.push(place ? place.packet + 1 : 0);
    this.#orders.push(place?.order === undefined ? 0 : place.order + 1);
    if (preview) {
      this.#previews.push(nth - this.#nextPreview);
      this.#nextPreview = nth + 1;
    }
    if (
      nth >= maxBlockSources ||
      Math.max(this.#uriBytes, this.#ownNames.length + this.#ownVersions.length) > maxBlockText
    ) {
      throw new RangeError('A block of sources is full');
    }
    return isElsewhere;
  }

  #uri(uri: string): boolean {
    const most = mostUnitBytes * uri.length;
    if (this.#now.length < most) this.#now = Buffer.allocUnsafe(2 * most);
    const now = this.#now;
    const bytes = now.write(uri);
    const before = this.#before;
    const least = Math.min(bytes, this.#beforeBytes);
    let shared = 0;
    while (shared < least && now[shared] === before[shared]) shared++;
    this.#shared.push(shared);
    this.#rest.push(this.#uris.add(now, shared, bytes));
    this.#uriBytes += bytes;
    this.#now = before;
    this.#before = now;
    this.#beforeBytes = bytes;
    let slashAt = bytes - 1;
    while (slashAt >= shared && now[slashAt] !== slash) slashAt--;
    const isElsewhere = slashAt >= shared || this.#slashAt >= shared;
    if (isElsewhere) this.#slashAt = now.subarray(0, bytes).lastIndexOf(slash);
    return isElsewhere;
  }

  #name(name: string, uri: string): number {
    // A URI of as many bytes as units is ASCII, and so is its end.
    if (uri.endsWith(name)) return 2 * (this.#beforeBytes === uri.length ? name.length : Buffer.byteLength(name));
    return 2 * this.#ownNames.add(Buffer.from(name)) + 1;
  }

  #version(version: string | undefined, sizeBytes: number): void {
    if (version === undefined) return void this.#versions.push(versionTags.none);
    const time = timeOf(version, sizeBytes);
    if (time === undefined) this.#versions.push(versionTags.text + this.#ownVersions.add(Buffer.from(version)));
    else {
      this.#versions.push(versionTags.sizeAndTime);
      this.#times.push(time);
    }
  }

  pack(): Uint8Array {
    const texts = [this.#uris, this.#ownNames, this.#ownVersions];
    const textBytes = texts.reduce((sum, { length }) => sum + length, 0);
    const head = [this.#indexes.length, this.#optional, this.#previews.length, textBytes];
    const columns = [head, this.#indexes, this.#shared, this.#rest, this.#sizes, this.#versions];
    if (this.#optional & optionalColumns.names) columns.push(this.#names);
    if (this.#optional & optionalColumns.places) columns.push(this.#packets, this.#orders);
    columns.push(this.#previews);
    const numberBytes = columns.reduce((sum, column) => sum + varintsLength(column), 0);
    const bytes = Buffer.allocUnsafeSlow(5 + numberBytes + 8 * this.#times.length + textBytes);
    bytes[4] = blockFormat;
    let at = 5;
    for (const column of columns) at = writeVarints(column, bytes, at);
    for (const time of this.#times) at = bytes.writeDoubleLE(time, at);
    for (const text of texts) at = text.copyTo(bytes, at);
    bytes.writeUInt32LE(crc32(bytes.subarray(4)));
    return bytes;
  }
}

/** UTF-8 has at most so many bytes for a UTF-16 unit. */
const mostUnitBytes = 3;

/** Bytes of text, one after another: a buffer of each was most of what the thread of a plan had to collect. */
class Text {
  #bytes = Buffer.allocUnsafe(2 ** 12);
  length = 0;

  /** Adds bytes from one place up to another, which is left out. Returns how many they are. */
  add(bytes: Buffer, from = 0, end = bytes.length): number {
    const length = this.length + end - from;
    if (length > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(2 * length);
      this.#bytes.copy(larger, 0, 0, this.length);
      this.#bytes = larger;
    }
    copyBytes(bytes, from, end, this.#bytes, this.length);
    this.length = length;
    return end - from;
  }

  /** Returns where they end. */
  copyTo(into: Buffer, at: number): number {
    return at + this.#bytes.copy(into, at, 0, this.length);
  }
}
