import { crc32 } from 'node:zlib';
import { varintsLength, writeVarints } from '@halogrid/proto/varints';
import {
  type BlockSource,
  blockFormat,
  maxBlockSources,
  maxBlockText,
  optionalColumns,
  SourceBlock,
  versionTags,
} from './source-block.ts';

/**
 * The block of bytes of these sources, in their order, as SourceBlock reads it. 20 bytes for a frame of a folder, with size
 * and version. Throws RangeError where they are more than a block holds.
 */
export function packSources(sources: Iterable<BlockSource>): Uint8Array {
  const columns = new Columns();
  for (const source of sources) columns.add(source);
  return columns.pack();
}

/** The block of the sources from one place of a block up to another, which is left out. Throws SourceBlockError. */
export function cutSources(block: Uint8Array, from: number, end: number): Uint8Array {
  return packSources(new SourceBlock(block).slice(from, end));
}

class Columns {
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
  #before: Buffer = Buffer.alloc(0);
  #next = 0;
  #nextPreview = 0;
  #uriBytes = 0;
  #optional = 0;

  add({ index, uri, sizeBytes, name, version, preview, place }: BlockSource): void {
    const nth = this.#indexes.length;
    const step = index - this.#next;
    this.#indexes.push(step < 0 ? -2 * step - 1 : 2 * step);
    this.#next = index + 1;
    this.#uri(Buffer.from(uri));
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
  }

  #uri(bytes: Buffer): void {
    const before = this.#before;
    const most = Math.min(bytes.length, before.length);
    let shared = 0;
    while (shared < most && bytes[shared] === before[shared]) shared++;
    this.#shared.push(shared);
    this.#rest.push(bytes.length - shared);
    this.#uris.add(bytes.subarray(shared));
    this.#uriBytes += bytes.length;
    this.#before = bytes;
  }

  #name(name: string, uri: string): number {
    if (uri.endsWith(name)) return 2 * Buffer.byteLength(name);
    return 2 * this.#ownNames.add(Buffer.from(name)) + 1;
  }

  #version(version: string | undefined, sizeBytes: number): void {
    if (version === undefined) return void this.#versions.push(versionTags.none);
    const sizeText = `${sizeBytes} `;
    const time = version.startsWith(sizeText) ? Number(version.slice(sizeText.length)) : Number.NaN;
    // What reads back as another text is kept as it is.
    if (`${sizeText}${time}` === version && Number.isFinite(time)) {
      this.#versions.push(versionTags.sizeAndTime);
      this.#times.push(time);
    } else this.#versions.push(versionTags.text + this.#ownVersions.add(Buffer.from(version)));
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

/** Bytes of text, one after another. */
class Text {
  readonly #parts: Uint8Array[] = [];
  length = 0;

  /** Returns how many were added. */
  add(bytes: Uint8Array): number {
    this.#parts.push(bytes);
    this.length += bytes.length;
    return bytes.length;
  }

  /** Returns where they end. */
  copyTo(into: Buffer, at: number): number {
    for (const part of this.#parts) {
      into.set(part, at);
      at += part.length;
    }
    return at;
  }
}
