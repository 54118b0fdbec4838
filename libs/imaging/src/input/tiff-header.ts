import { InputError } from './input-error.ts';
import type { InputFile } from './input-file.ts';

/** What the first directory of a TIFF or BigTIFF says. */
export interface TiffHeader {
  width: number;
  height: number;
  /** Of every sample of a pixel; all equal. */
  bitsPerSample: number;
  /** 1 unsigned, 2 signed, 3 floating point. */
  sampleFormat: number;
  /** 1 none, 5 LZW, 7 JPEG, 8 Deflate… */
  compression: number;
  /** 0 and 1 gray, 2 RGB, 3 palette, 5 CMYK, 6 YCbCr… */
  photometric: number;
  /** Each channel is stored apart. */
  isPlanar: boolean;
  isDng: boolean;
  /** Undefined where rows are stored in strips. `count` is how many the file lists. */
  tiles: { width: number; height: number; count: number } | undefined;
}

const tags = {
  width: 256,
  height: 257,
  bitsPerSample: 258,
  compression: 259,
  photometric: 262,
  planarConfiguration: 284,
  tileWidth: 322,
  tileHeight: 323,
  tileOffsets: 324,
  sampleFormat: 339,
  dngVersion: 50706,
} as const;

/** Bytes of a value of an unsigned integer type, by the type's number. */
const integerBytes: Record<number, number> = { 1: 1, 3: 2, 4: 4, 13: 4, 16: 8, 18: 8 };

interface Entry {
  type: number;
  count: number;
  /** The value itself where it fits, otherwise where it is in the file. */
  inline: Buffer;
}

/** Classic TIFF and BigTIFF, in either byte order. Rejects with InputError. */
export async function readTiffHeader(file: InputFile): Promise<TiffHeader> {
  const reader = new TiffReader(file);
  const entries = await reader.readFirstDirectory();
  const first = async (tag: number, otherwise?: number): Promise<number> => {
    const entry = entries.get(tag);
    if (entry) return (await reader.integers(entry, 1))[0]!;
    if (otherwise === undefined) throw new InputError('decode', `The TIFF has no tag ${tag}, which every image needs`);
    return otherwise;
  };
  const bits = entries.get(tags.bitsPerSample);
  // One value a sample; five cover everything that is supported and show what is not.
  const bitsPerSample = bits ? await reader.integers(bits, 5) : [1];
  if (bitsPerSample.some((b) => b !== bitsPerSample[0])) {
    throw new InputError('decode', `Samples of different depths (${bitsPerSample.join(', ')} bits) are not supported`);
  }
  return {
    width: await first(tags.width),
    height: await first(tags.height),
    bitsPerSample: bitsPerSample[0]!,
    sampleFormat: await first(tags.sampleFormat, 1),
    compression: await first(tags.compression, 1),
    photometric: await first(tags.photometric, 1),
    isPlanar: (await first(tags.planarConfiguration, 1)) === 2,
    isDng: entries.has(tags.dngVersion),
    tiles: entries.has(tags.tileWidth)
      ? {
          width: await first(tags.tileWidth),
          height: await first(tags.tileHeight),
          count: entries.get(tags.tileOffsets)?.count ?? 0,
        }
      : undefined,
  };
}

class TiffReader {
  #file: InputFile;
  #bigEndian: boolean;
  #big: boolean;

  constructor(file: InputFile) {
    this.#file = file;
    this.#bigEndian = file.head[0] === 0x4d;
    this.#big = file.head[this.#bigEndian ? 3 : 2] === 43;
  }

  async readFirstDirectory(): Promise<Map<number, Entry>> {
    const word = this.#big ? 8 : 4;
    const countBytes = this.#big ? 8 : 2;
    const entryBytes = this.#big ? 20 : 12;
    const start = this.#integer(await this.#bytes(word, word), 0, word);
    const count = this.#integer(await this.#bytes(start, countBytes), 0, countBytes);
    // Seen in practice: a few dozen. The format allows 65535 in a classic file.
    if (count > 65535) throw new InputError('decode', `The TIFF is damaged: its directory claims ${count} entries`);
    const bytes = await this.#bytes(start + countBytes, count * entryBytes);
    const entries = new Map<number, Entry>();
    for (let at = 0; at < bytes.length; at += entryBytes) {
      entries.set(this.#integer(bytes, at, 2), {
        type: this.#integer(bytes, at + 2, 2),
        count: this.#integer(bytes, at + 4, word),
        inline: bytes.subarray(at + 4 + word, at + 4 + 2 * word),
      });
    }
    return entries;
  }

  /** The first `max` values of an entry, or all of fewer; there is one at least. */
  async integers({ type, count, inline }: Entry, max: number): Promise<number[]> {
    const size = integerBytes[type];
    if (!size || count === 0) throw new InputError('decode', 'The TIFF is damaged: a size or format is not a number');
    const bytes =
      count * size <= inline.length
        ? inline
        : await this.#bytes(this.#integer(inline, 0, inline.length), Math.min(count, max) * size);
    return Array.from({ length: Math.min(count, max) }, (_, i) => this.#integer(bytes, i * size, size));
  }

  #integer(bytes: Buffer, at: number, size: number): number {
    if (size === 8) return Number(this.#bigEndian ? bytes.readBigUInt64BE(at) : bytes.readBigUInt64LE(at));
    return this.#bigEndian ? bytes.readUIntBE(at, size) : bytes.readUIntLE(at, size);
  }

  async #bytes(position: number, length: number): Promise<Buffer> {
    if (position + length > this.#file.sizeBytes) {
      throw new InputError('decode', `The TIFF is cut off or damaged: its directory is beyond the end of the file`);
    }
    const bytes = Buffer.allocUnsafe(length);
    await this.#file.read(bytes, position);
    return bytes;
  }
}
