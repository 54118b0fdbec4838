import { InputError } from '@halogrid/sources';
import { checkHasPixels } from '../pixel-limit.ts';

/** Where a colour of a pixel of 16 or 32 bits lies in it: `max` is the largest value, `scaled` each as 8 bits. */
export interface BmpField {
  shift: number;
  max: number;
  scaled: Uint8Array;
}

export interface BmpHeader {
  width: number;
  height: number;
  bits: 1 | 2 | 4 | 8 | 16 | 24 | 32;
  isRle: boolean;
  /** Whether the first row is the first of the file, not the last. */
  isTopDown: boolean;
  /** Where the pixels begin, in bytes. */
  dataStart: number;
  /** Bytes from one row to the next; means nothing if they are run-length encoded. */
  rowBytes: number;
  /** Red, green and blue of each colour, up to 8 bits a pixel. */
  palette: Uint8Array;
  /** Red, green and blue of a pixel of 16 or 32 bits. */
  fields: readonly BmpField[];
}

const fileHeaderBytes = 14;
const depths = [1, 2, 4, 8, 16, 24, 32] as const;
const compressions = ['none', 'RLE8', 'RLE4', 'bit fields', 'JPEG', 'PNG', 'bit fields with alpha'];
/** Headers of OS/2 and of Windows, by their lengths; of 64 bytes is OS/2's second, whose compressions differ. */
const knownHeaders = [12, 40, 52, 56, 64, 108, 124];
const usualMasks = { 16: [0x7c00, 0x3e0, 0x1f], 32: [0xff0000, 0xff00, 0xff] };

/** Reads the header of a file of `sizeBytes` from its first bytes. Throws InputError. */
export function readBmpHeader(head: Buffer, sizeBytes: number): BmpHeader {
  const need = (bytes: number): void => {
    if (bytes > head.length) throw refused('has no header: it is cut off or damaged');
  };
  need(fileHeaderBytes + 12);
  const headerBytes = head.readUInt32LE(14);
  if (!knownHeaders.includes(headerBytes)) throw refused(`has a header of ${headerBytes} bytes, which no version has`);
  need(fileHeaderBytes + headerBytes);
  const isFirst = headerBytes === 12;
  const width = isFirst ? head.readUInt16LE(18) : head.readInt32LE(18);
  const rows = isFirst ? head.readUInt16LE(20) : head.readInt32LE(22);
  const height = Math.abs(rows);
  checkHasPixels(width, height);
  const stated = head.readUInt16LE(isFirst ? 24 : 28);
  const bits = depths.find((depth) => depth === stated);
  const compression = isFirst ? 0 : head.readUInt32LE(30);
  const isRle = compression === 1 || compression === 2;
  const fits = {
    0: true,
    1: bits === 8 && rows > 0,
    2: bits === 4 && rows > 0,
    3: headerBytes !== 64 && (bits === 16 || bits === 32),
    6: headerBytes !== 64 && (bits === 16 || bits === 32),
  }[compression];
  if (!bits || !fits) {
    const name = compressions[compression] ?? compression;
    throw new InputError('decode', `A BMP with ${stated} bits a pixel and compression ${name} is not supported`);
  }
  let end = fileHeaderBytes + headerBytes;
  let fields: BmpField[] = [];
  if (bits === 16 || bits === 32) {
    const areStated = compression !== 0;
    if (areStated && headerBytes === 40) end += compression === 6 ? 16 : 12;
    need(end);
    fields = usualMasks[bits].map((usual, i) => fieldOf(areStated ? head.readUInt32LE(54 + 4 * i) : usual, bits));
  }
  const dataStart = head.readUInt32LE(10);
  if (dataStart < end) throw refused(`states that its pixels begin at byte ${dataStart}, inside its header`);
  const palette = bits > 8 ? new Uint8Array(0) : paletteOf(head, { end, isFirst, bits, dataStart });
  const rowBytes = Math.ceil((width * bits) / 32) * 4;
  // The last row needs no padding.
  const taken = (height - 1) * rowBytes + Math.ceil((width * bits) / 8);
  if (!isRle && dataStart + taken > sizeBytes) {
    const held = Math.max(0, sizeBytes - dataStart);
    throw new InputError(
      'decode',
      `The file is truncated: ${width}x${height} pixels take ${taken} bytes but it holds ${held}`,
    );
  }
  return { width, height, bits, isRle, isTopDown: rows < 0, dataStart, rowBytes, palette, fields };
}

/** As many colours as lie between header and pixels, up to what the header and the depth allow. */
function paletteOf(
  head: Buffer,
  { end, isFirst, bits, dataStart }: { end: number; isFirst: boolean; bits: number; dataStart: number },
): Uint8Array {
  const entryBytes = isFirst ? 3 : 4;
  const stated = isFirst ? 0 : head.readUInt32LE(46);
  const room = Math.floor((Math.min(dataStart, head.length) - end) / entryBytes);
  const colours = Math.min(stated || 2 ** bits, 2 ** bits, room);
  const palette = new Uint8Array(3 * colours);
  for (let i = 0; i < colours; i++) {
    for (let c = 0; c < 3; c++) palette[3 * i + c] = head[end + i * entryBytes + 2 - c]!;
  }
  return palette;
}

function fieldOf(mask: number, bits: number): BmpField {
  const shift = mask === 0 ? 0 : 31 - Math.clz32(mask & -mask);
  const max = mask >>> shift;
  if (max < 1 || max > 255 || (max & (max + 1)) !== 0 || mask >= 2 ** bits) {
    throw refused(`has the colour mask 0x${mask.toString(16)}: masks of 1 to 8 bits that lie together are supported`);
  }
  return { shift, max, scaled: Uint8Array.from({ length: max + 1 }, (_, value) => Math.floor((value * 255) / max)) };
}

/** `why` is the rest of the sentence. */
export const refused = (why: string): InputError => new InputError('decode', `The BMP ${why}`);
