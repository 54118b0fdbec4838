import type { Rect } from '@halogrid/geometry';
import type { InputFile } from '@halogrid/sources';
import { checkWholePixels } from '../pixel-limit.ts';
import { checkDecodeRequest } from '../planes/decode-request.ts';
import type { OpenImage } from '../planes/image.ts';
import { below, type PlaneTarget } from '../planes/plane-target.ts';
import { writeRows } from '../planes/write-rows.ts';
import { type BmpHeader, readBmpHeader, refused } from './bmp-header.ts';
import { decodeRle } from './bmp-rle.ts';

/** Rows are read in pieces of this size. */
const bandBytes = 2 ** 22;

/**
 * Takes `file` over and keeps it open. Plain pixels are read by region; run-length encoded ones whole. Palettes and
 * fields of less than 8 bits become 8 bits: floor(255 v / largest). Alpha is ignored.
 */
export async function openBmp(file: InputFile, maxWholePixels: number): Promise<OpenImage> {
  const header = readBmpHeader(file.head, file.sizeBytes);
  const { width, height, isRle } = header;
  if (isRle) checkWholePixels(width, height, maxWholePixels);
  const opened: OpenImage = {
    format: 'bmp',
    width,
    height,
    pixel: 'u8',
    readsRegions: !isRle,
    get inputBytes() {
      return file.bytesRead;
    },
    async decode(region: Rect, to: PlaneTarget): Promise<void> {
      checkDecodeRequest(opened, region, to);
      await (isRle ? decodeWhole(file, header, to) : decodeRegion(file, header, region, to));
    },
    close: () => file.close(),
  };
  return opened;
}

async function decodeRegion(file: InputFile, header: BmpHeader, region: Rect, to: PlaneTarget): Promise<void> {
  const { height, bits, isTopDown, dataStart, rowBytes } = header;
  const first = Math.floor((region.x * bits) / 8);
  const wanted = Math.ceil(((region.x + region.width) * bits) / 8) - first;
  const mostRows = rowBytes - wanted <= file.gapBytes ? Math.max(1, Math.floor(bandBytes / rowBytes)) : 1;
  const toColours = converter(header);
  for (let top = 0; top < region.height; top += mostRows) {
    const rows = Math.min(mostRows, region.height - top);
    // The row of the band that comes first in the file.
    const stored = isTopDown ? region.y + top : height - region.y - top - rows;
    const bytes = Buffer.allocUnsafe((rows - 1) * rowBytes + wanted);
    await file.read(bytes, dataStart + stored * rowBytes + first);
    const pixels = new Uint8Array(rows * region.width * 3);
    for (let row = 0; row < rows; row++) {
      const from = (isTopDown ? row : rows - 1 - row) * rowBytes;
      toColours(bytes, from, region.x - (first * 8) / bits, pixels, row * region.width * 3, region.width);
    }
    writeRows({ pixels, channels: 3, width: region.width, rows }, below(to, top));
  }
}

async function decodeWhole(file: InputFile, { width, height, bits, dataStart, palette }: BmpHeader, to: PlaneTarget) {
  const bytes = new Uint8Array(Math.max(0, file.sizeBytes - dataStart));
  if (bytes.length > 0) await file.read(bytes, dataStart);
  const colours = decodeRle(bytes, bits as 4 | 8, width, height);
  const pixels = new Uint8Array(width * 3);
  for (let y = 0; y < height; y++) {
    const from = (height - 1 - y) * width;
    for (let x = 0; x < width; x++) putColour(palette, colours[from + x]!, pixels, 3 * x);
    writeRows({ pixels, channels: 3, width, rows: 1 }, below(to, y));
  }
}

/**
 * Writes `count` pixels of a row as RGB from `at` on. The row begins at byte `from`; the first is its pixel `x`.
 */
type ToColours = (row: Buffer, from: number, x: number, into: Uint8Array, at: number, count: number) => void;

function converter({ bits, palette, fields }: BmpHeader): ToColours {
  if (bits === 24) {
    return (row, from, x, into, at, count) => {
      for (let i = at, j = from + 3 * x; i < at + 3 * count; i += 3, j += 3) {
        into[i] = row[j + 2]!;
        into[i + 1] = row[j + 1]!;
        into[i + 2] = row[j]!;
      }
    };
  }
  if (bits > 8) {
    const [red, green, blue] = fields as [BmpHeader['fields'][0], BmpHeader['fields'][0], BmpHeader['fields'][0]];
    return (row, from, x, into, at, count) => {
      for (let i = 0; i < count; i++) {
        const word = bits === 16 ? row.readUInt16LE(from + 2 * (x + i)) : row.readUInt32LE(from + 4 * (x + i));
        into[at + 3 * i] = red.scaled[(word >>> red.shift) & red.max]!;
        into[at + 3 * i + 1] = green.scaled[(word >>> green.shift) & green.max]!;
        into[at + 3 * i + 2] = blue.scaled[(word >>> blue.shift) & blue.max]!;
      }
    };
  }
  const perByte = 8 / bits;
  const mask = 2 ** bits - 1;
  return (row, from, x, into, at, count) => {
    for (let i = 0; i < count; i++) {
      const place = x + i;
      const byte = row[from + Math.floor(place / perByte)]!;
      const colour = (byte >> (8 - bits * ((place % perByte) + 1))) & mask;
      putColour(palette, colour, into, at + 3 * i);
    }
  };
}

function putColour(palette: Uint8Array, colour: number, into: Uint8Array, at: number): void {
  const from = 3 * colour;
  if (from >= palette.length) throw refused(`has a pixel of colour ${colour}, and ${palette.length / 3} colours`);
  into[at] = palette[from]!;
  into[at + 1] = palette[from + 1]!;
  into[at + 2] = palette[from + 2]!;
}
