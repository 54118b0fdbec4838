import { crc32 } from 'node:zlib';
import { readVarints } from '@halogrid/proto/varints';
import { copyBytes } from './copy-bytes.ts';

/** An input as a block has it. */
export interface BlockSource {
  /** Number of the source in its job. */
  index: number;
  uri: string;
  /** Encoded; 0 where it is not known. */
  sizeBytes: number;
  /** As of a Source; absent where whoever reads the block needs none. */
  name?: string;
  /** As of a Source. */
  version?: string;
  /** Whether a preview may be made of it. */
  preview?: true;
  /** Where in a video it is found; absent for images. */
  place?: { packet: number; order?: number };
}

/** UTF-8 from byte `from` of `bytes` up to `end`, which is left out. */
export interface TextRange {
  bytes: Buffer;
  from: number;
  end: number;
}

export const textOf = ({ bytes, from, end }: TextRange): string => bytes.toString('utf8', from, end);

/** Bytes that are no block of sources, or one that was damaged. The message is a sentence. */
export class SourceBlockError extends Error {
  override readonly name = 'SourceBlockError';
}

/** First byte behind the checksum: which layout the rest has. */
export const blockFormat = 1;

/** Sources of a block at most. */
export const maxBlockSources = 2 ** 16;

/** Bytes of all texts of a block at most, written out: few bytes stand for long URIs that differ by little. */
export const maxBlockText = 2 ** 27;

/** Bits of a block's columns that not every block has. */
export const optionalColumns = { names: 1, places: 2 } as const;

/** How a version is told: not at all, by the size and a time, or in so many bytes less `text`. */
export const versionTags = { none: 0, sizeAndTime: 1, text: 2 } as const;

const checksumBytes = 4;
const timeBytes = 8;

/**
 * The sources of a range of a listing, read from one block of bytes, which `packSources` makes:
 *
 *     checksum      CRC-32 of all that follows, little-endian
 *     format        a byte
 *     sources, optional columns, previews, bytes of text     varints
 *     index         of each source, a varint: zigzag of what it is more than one after the one before
 *     shared, rest  of each URI, two columns of varints: bytes that it has in common with the one before, and bytes that follow
 *     sizes         varints
 *     versions      varints, as versionTags
 *     names         where there are any, varints: twice the bytes at the end of its URI that a name is; else one more than twice its own
 *     packets       of places, varints: 0 for none, or one more than the number; then orders, alike
 *     previews      varints: of each source that gets one, sources between it and the one before
 *     times         of versions, milliseconds since 1970 as float64, little-endian
 *     text          UTF-8: what URIs do not share, names, versions
 */
export class SourceBlock {
  readonly length: number;
  readonly #indexes: Float64Array;
  readonly #sizes: Float64Array;
  readonly #versions: Float64Array;
  readonly #names: Float64Array | undefined;
  readonly #packets: Float64Array | undefined;
  readonly #orders: Float64Array | undefined;
  readonly #previews: Uint8Array;
  readonly #times: Float64Array;
  /** All URIs, written out, and where each ends. */
  readonly #uris: Buffer;
  readonly #uriEnds: Uint32Array;
  /** Names and versions, and where each ends. */
  readonly #texts: Buffer;
  readonly #nameEnds: Uint32Array;
  readonly #versionEnds: Uint32Array;

  /** Takes time by the number of sources, and memory by their texts. Throws SourceBlockError. */
  constructor(block: Uint8Array) {
    const bytes = Buffer.from(block.buffer, block.byteOffset, block.byteLength);
    if (bytes.length <= checksumBytes || bytes.readUInt32LE() !== crc32(bytes.subarray(checksumBytes))) {
      throw new SourceBlockError('A block of sources is damaged: its checksum differs');
    }
    if (bytes[checksumBytes] !== blockFormat) {
      throw new SourceBlockError(`A block of sources has the format ${bytes[checksumBytes]}, not ${blockFormat}`);
    }
    let at = checksumBytes + 1;
    const column = (length: number): Float64Array => {
      // A varint takes a byte at least, so that nothing is held for what is not there.
      if (!(length <= bytes.length - at)) throw ended();
      const values = new Float64Array(length);
      at = readVarints(bytes, at, values);
      if (at > bytes.length || !areSafe(values)) throw ended();
      return values;
    };
    const [length, optional, previews, textBytes] = column(4) as unknown as [number, number, number, number];
    if (length > maxBlockSources)
      throw new SourceBlockError(`A block has ${length} sources, more than ${maxBlockSources}`);
    this.length = length;
    this.#indexes = indexesOf(column(length));
    const shared = column(length);
    const rest = column(length);
    this.#sizes = column(length);
    this.#versions = column(length);
    this.#names = optional & optionalColumns.names ? column(length) : undefined;
    this.#packets = optional & optionalColumns.places ? column(length) : undefined;
    this.#orders = this.#packets && column(length);
    this.#previews = marksOf(column(previews), length);
    this.#times = new Float64Array(length);
    for (let i = 0; i < length; i++) {
      if (this.#versions[i] !== versionTags.sizeAndTime) continue;
      if (at + timeBytes > bytes.length) throw ended();
      this.#times[i] = bytes.readDoubleLE(at);
      at += timeBytes;
    }
    if (bytes.length - at !== textBytes) throw ended();
    this.#uriEnds = uriEndsOf(shared, rest);
    this.#uris = Buffer.allocUnsafe(this.#uriEnds[length - 1] ?? 0);
    for (let i = 0, end = 0; i < length; i++) {
      const start = end;
      end = this.#uriEnds[i]!;
      const before = i === 0 ? 0 : (this.#uriEnds[i - 2] ?? 0);
      this.#uris.copyWithin(start, before, before + shared[i]!);
      const restEnd = at + rest[i]!;
      if (restEnd > bytes.length) throw ended();
      copyBytes(bytes, at, restEnd, this.#uris, start + shared[i]!);
      at = restEnd;
    }
    this.#texts = bytes.subarray(at);
    this.#nameEnds = endsOf(length, 0, (i) => ownNameBytes(this.#names?.[i]));
    const names = this.#nameEnds[length - 1] ?? 0;
    this.#versionEnds = endsOf(length, names, (i) => Math.max(0, this.#versions[i]! - versionTags.text));
    if ((this.#versionEnds[length - 1] ?? 0) !== this.#texts.length) throw ended();
    for (let i = 0; i < length; i++) {
      const name = this.#names?.[i] ?? 1;
      if (name % 2 === 0 && name / 2 > this.#uriEnds[i]! - (this.#uriEnds[i - 1] ?? 0)) throw ended();
    }
  }

  index(nth: number): number {
    return this.#indexes[nth]!;
  }

  uri(nth: number): string {
    const text: TextRange = { bytes: this.#uris, from: 0, end: 0 };
    this.uriText(nth, text);
    return textOf(text);
  }

  /** Where its URI lies, without making a string of it. */
  uriText(nth: number, text: TextRange): void {
    text.bytes = this.#uris;
    text.from = nth === 0 ? 0 : this.#uriEnds[nth - 1]!;
    text.end = this.#uriEnds[nth]!;
  }

  sizeBytes(nth: number): number {
    return this.#sizes[nth]!;
  }

  hasPreview(nth: number): boolean {
    return this.#previews[nth] === 1;
  }

  name(nth: number): string | undefined {
    if (this.#names === undefined) return undefined;
    const text: TextRange = { bytes: this.#uris, from: 0, end: 0 };
    this.nameText(nth, text);
    return textOf(text);
  }

  /** Where its name lies, which is its URI where it has none. */
  nameText(nth: number, text: TextRange): void {
    this.uriText(nth, text);
    const name = this.#names?.[nth];
    if (name === undefined) return;
    if (name % 2 === 0) {
      text.from = text.end - name / 2;
      return;
    }
    text.bytes = this.#texts;
    text.from = nth === 0 ? 0 : this.#nameEnds[nth - 1]!;
    text.end = this.#nameEnds[nth]!;
  }

  version(nth: number): string | undefined {
    const tag = this.#versions[nth]!;
    if (tag === versionTags.none) return undefined;
    if (tag === versionTags.sizeAndTime) return `${this.#sizes[nth]} ${this.#times[nth]}`;
    const end = this.#versionEnds[nth]!;
    return this.#texts.toString('utf8', end - (tag - versionTags.text), end);
  }

  /** The time that follows the size in its version, where the version is these two numbers. */
  versionTime(nth: number): number | undefined {
    return this.#versions[nth] === versionTags.sizeAndTime ? this.#times[nth] : undefined;
  }

  place(nth: number): BlockSource['place'] {
    const packet = this.#packets?.[nth];
    if (!packet) return undefined;
    const order = this.#orders![nth]!;
    return { packet: packet - 1, ...(order > 0 && { order: order - 1 }) };
  }

  /** The source at that place in the block, from 0. */
  get(nth: number): BlockSource {
    const [name, version, place] = [this.name(nth), this.version(nth), this.place(nth)];
    return {
      ...{ index: this.index(nth), uri: this.uri(nth), sizeBytes: this.sizeBytes(nth) },
      ...(name !== undefined && { name }),
      ...(version !== undefined && { version }),
      ...(this.hasPreview(nth) && { preview: true as const }),
      ...(place && { place }),
    };
  }

  /** Those from one place up to another, which is left out. */
  *slice(from = 0, end = this.length): Generator<BlockSource, void, undefined> {
    for (let nth = from; nth < end; nth++) yield this.get(nth);
  }
}

const ended = (): SourceBlockError => new SourceBlockError('A block of sources is shorter or longer than it says');

/** Whether integers from 0 on, or what is none, are all integers that are exact. */
function areSafe(values: Float64Array): boolean {
  for (const value of values) if (!(value <= Number.MAX_SAFE_INTEGER)) return false;
  return true;
}

function indexesOf(steps: Float64Array): Float64Array {
  let next = 0;
  for (let i = 0; i < steps.length; i++) {
    const step = steps[i]!;
    const index = next + (step % 2 === 0 ? step / 2 : -(step + 1) / 2);
    if (!Number.isSafeInteger(index) || index < 0) throw ended();
    steps[i] = index;
    next = index + 1;
  }
  return steps;
}

function marksOf(gaps: Float64Array, length: number): Uint8Array {
  const marks = new Uint8Array(length);
  let next = 0;
  for (const gap of gaps) {
    next += gap;
    if (next >= length) throw ended();
    marks[next++] = 1;
  }
  return marks;
}

function uriEndsOf(shared: Float64Array, rest: Float64Array): Uint32Array {
  let before = 0;
  return endsOf(shared.length, 0, (i) => {
    if (shared[i]! > before) throw ended();
    before = shared[i]! + rest[i]!;
    return before;
  });
}

/** Bytes of a name that is not the end of its URI. */
const ownNameBytes = (name = 0): number => (name % 2 === 1 ? (name - 1) / 2 : 0);

function endsOf(length: number, start: number, bytesOf: (nth: number) => number): Uint32Array {
  const ends = new Uint32Array(length);
  let end = start;
  for (let i = 0; i < length; i++) {
    end += bytesOf(i);
    if (end > maxBlockText) throw new SourceBlockError(`The texts of a block have more than ${maxBlockText} bytes`);
    ends[i] = end;
  }
  return ends;
}
