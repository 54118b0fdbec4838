import { fileURLToPath } from 'node:url';
import { type PixelType, sampleBytes } from '@halogrid/geometry';
import { allowedPath, isRowUri, quickFiles, splitMember } from '@halogrid/sources';
import { readPnmHeader } from './formats/pnm-header.ts';

/** What a header claims: size and type of pixels. */
export interface Peeked {
  width: number;
  height: number;
  pixel: PixelType;
}

/**
 * Bytes that are read of a file at first. Most headers end within them; those that cameras write end after a thumbnail.
 */
const headBytes = 4096;

/** The most segments before the size of a JPEG: one for every 64 KiB of a profile or of metadata. */
const maxSegments = 256;

/**
 * The size and the type of pixels that the header of a local JPEG, PNG, WebP, TIFF, PNM or GIF claims, read with one or
 * two small reads; undefined if that does not tell them, as of a row of a Parquet file: opening the image says more.
 */
export async function peekSize(uri: string): Promise<Peeked | undefined> {
  if (isRowUri(uri)) return undefined;
  let file: number | undefined;
  try {
    file = await quickFiles.open(await allowedPath(fileURLToPath(uri)));
    const size = await readSize(new Head(file, splitMember(uri).member));
    return size && size.width > 0 && size.height > 0 ? size : undefined;
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) await quickFiles.close(file);
  }
}

/** Reads bytes of a file, always with those that follow them. */
class Head {
  readonly #file: number;
  /** Where the file begins and ends in the open one. */
  readonly #from: number;
  readonly #end: number;
  readonly #bytes = Buffer.allocUnsafe(headBytes);
  #start = 0;
  #length = 0;

  constructor(file: number, member?: { start: number; length: number }) {
    this.#file = file;
    this.#from = member?.start ?? 0;
    this.#end = member ? member.start + member.length : Number.POSITIVE_INFINITY;
  }

  /** Rejects if the file ends before those bytes do. */
  async read(position: number, length: number): Promise<Buffer> {
    if (position < this.#start || position + length > this.#start + this.#length) {
      this.#start = position;
      const at = this.#from + position;
      const read = await quickFiles.read(this.#file, this.#bytes, at);
      this.#length = Math.max(0, Math.min(read, this.#end - at));
      if (length > this.#length) throw new RangeError('The file ends inside its header');
    }
    return this.#bytes.subarray(position - this.#start, position - this.#start + length);
  }

  /** What was read last. */
  get loaded(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }
}

async function readSize(head: Head): Promise<Peeked | undefined> {
  const signature = (await head.read(0, 4)).toString('latin1');
  if (/^P[2356]\s/.test(signature)) return readPnmSize(head);
  const start = await head.read(0, 30);
  if (signature === '\x89PNG') {
    return { width: start.readUInt32BE(16), height: start.readUInt32BE(20), pixel: start[24] === 16 ? 'u16' : 'u8' };
  }
  if (signature.startsWith('\xff\xd8\xff')) return readJpegSize(head);
  if (signature === 'RIFF') return readWebpSize(start);
  if (signature === 'GIF8') return { width: start.readUInt16LE(6), height: start.readUInt16LE(8), pixel: 'u8' };
  if (/^(II[*+]\0|MM\0[*+])$/.test(signature)) return readTiffSize(head, start);
  return undefined;
}

/** Checks the length of a binary PNM too, as opening it does. */
async function readPnmSize(head: Head): Promise<Peeked> {
  const { width, height, channels, pixel, isPlain, dataStart } = readPnmHeader(head.loaded);
  const samples = width * height * channels * sampleBytes[pixel];
  if (!isPlain && samples > 0) await head.read(dataStart + samples - 1, 1);
  return { width, height, pixel };
}

async function readJpegSize(head: Head): Promise<Peeked | undefined> {
  for (let at = 2, segments = 0; segments < maxSegments; segments++) {
    const segment = await head.read(at, 9);
    const marker = segment[1]!;
    if (segment[0] !== 0xff) return undefined;
    if (marker === 0xff) at++;
    // A frame's header: C0 to CF but for the tables C4, C8 and CC.
    else if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)) {
      return { width: segment.readUInt16BE(7), height: segment.readUInt16BE(5), pixel: 'u8' };
    } else at += 2 + segment.readUInt16BE(2);
  }
  return undefined;
}

function readWebpSize(start: Buffer): Peeked | undefined {
  const kind = start.toString('latin1', 12, 16);
  const pixel = 'u8';
  if (kind === 'VP8 ')
    return { width: start.readUInt16LE(26) & 0x3fff, height: start.readUInt16LE(28) & 0x3fff, pixel };
  if (kind === 'VP8X') return { width: 1 + start.readUIntLE(24, 3), height: 1 + start.readUIntLE(27, 3), pixel };
  if (kind !== 'VP8L') return undefined;
  const bits = start.readUInt32LE(21);
  return { width: 1 + (bits & 0x3fff), height: 1 + ((bits >>> 14) & 0x3fff), pixel };
}

/**
 * The size in the first directory, unless that may be a page that is skipped. Entries are sorted, so width and height
 * are among the first.
 */
async function readTiffSize(head: Head, start: Buffer): Promise<Peeked | undefined> {
  const isBigEndian = start[0] === 0x4d;
  const isBig = start[isBigEndian ? 3 : 2] === 43;
  const word = isBig ? 8 : 4;
  const integer = (bytes: Buffer, at: number, size: number): number => {
    if (size === 8) return Number(isBigEndian ? bytes.readBigUInt64BE(at) : bytes.readBigUInt64LE(at));
    return isBigEndian ? bytes.readUIntBE(at, size) : bytes.readUIntLE(at, size);
  };
  const countBytes = isBig ? 8 : 2;
  const entryBytes = isBig ? 20 : 12;
  const directory = integer(start, word, word);
  const entries = Math.min(8, integer(await head.read(directory, countBytes), 0, countBytes));
  // A copy, because the next read overwrites these bytes.
  const bytes = Buffer.from(await head.read(directory + countBytes, entries * entryBytes));
  const first = async (tag: number): Promise<number | undefined> => {
    for (let at = 0; at < bytes.length; at += entryBytes) {
      const size = { 3: 2, 4: 4, 16: 8 }[integer(bytes, at + 2, 2)];
      if (!size || integer(bytes, at, 2) !== tag) continue;
      // A value that does not fit into the entry lies elsewhere, such as the bits of each of three samples.
      const isInside = integer(bytes, at + 4, word) * size <= word;
      const place = at + 4 + word;
      return isInside
        ? integer(bytes, place, size)
        : integer(await head.read(integer(bytes, place, word), size), 0, size);
    }
    return undefined;
  };
  // NewSubfileType is the lowest tag. If it is there, another page may be the image.
  if (integer(bytes, 0, 2) < 256 && (await first(254)) !== 0) return undefined;
  const [width, height] = [await first(256), await first(257)];
  return width && height ? { width, height, pixel: (await first(258)) === 16 ? 'u16' : 'u8' } : undefined;
}
