import { addDifferences, joinFloats } from './predict-samples.ts';
import type { Samples } from './scale-samples.ts';
import type { SampleKind, TiffLayout } from './tiff-layout.ts';

/** How rows of blocks are stored, before they become pixels. */
export interface StoredRows {
  /** Pixels of a row. */
  width: number;
  rowBytes: number;
  bits: number;
  /** Samples of a pixel. */
  samples: number;
  /** Rows of pixels in a stored row. */
  pixelRows: number;
}

/** The stored rows of blocks that are `width` pixels wide. */
export function storedRows({ coding, bits, samples, unit: [across, down] }: TiffLayout, width: number): StoredRows {
  const common = { width, pixelRows: 1 };
  if (coding === 'fax') return { ...common, rowBytes: width, bits: 8, samples: 1 };
  if (coding === 'picture') {
    const channels = samples < 3 ? 1 : 3;
    return { ...common, rowBytes: width * channels, bits: 8, samples: channels };
  }
  if (across * down === 1) return { ...common, rowBytes: Math.ceil((width * samples * bits) / 8), bits, samples };
  const rowBytes = Math.ceil(width / across) * (across * down + 2);
  return { width, pixelRows: down, rowBytes, bits, samples: 3 };
}

/** The samples of whole stored rows as numbers, interleaved, rows without gaps. May change `bytes`. */
export function storedSamples(bytes: Uint8Array, rows: StoredRows, layout: TiffLayout, isBigEndian: boolean): Samples {
  const { width, samples, rowBytes, bits } = rows;
  const { coding, unit, isDifferences, isByRank, kind } = layout;
  if (coding === 'picture') return bytes;
  // libvips turns bits into 0 and 255.
  if (coding === 'fax') return bytes.map((value) => value & 1);
  if (unit[0] * unit[1] > 1) return unpackChroma(bytes, rows, unit);
  if (bits < 8) return unpackBits(bytes, width * samples, rowBytes, bits);
  // Predictor 3 has an order of bytes of its own.
  if (isByRank) joinFloats(bytes, width * samples, samples, bits / 8);
  // JPEG 2000 is decoded to the order of this machine.
  else if (isBigEndian && coding !== 'jp2') swapBytes(bytes, bits);
  if (isDifferences) addDifferences(new unsigned[bits]!(...viewOf(bytes, bits)), width * samples, samples);
  return numbers(bytes, bits, kind);
}

const numbers = (bytes: Uint8Array, bits: number, kind: SampleKind): Samples =>
  new (kind === 'unsigned' ? unsigned[bits]! : others[kind][bits]!)(...viewOf(bytes, bits));

/** As many samples of 0, in the array that `storedSamples` gives. */
export function emptySamples(count: number, { bits }: StoredRows, layout: TiffLayout): Samples {
  const length = count * Math.max(1, bits / 8);
  return numbers(new Uint8Array(length), Math.max(8, bits), layout.kind);
}

/** What arrays of samples of that many bits are views of. */
const viewOf = ({ buffer, byteOffset, length }: Uint8Array, bits: number) =>
  [buffer, byteOffset, length / (bits / 8)] as const;

type View<T> = new (buffer: ArrayBufferLike, byteOffset: number, length: number) => T;

const unsigned: Readonly<Record<number, View<Uint8Array | Uint16Array | Uint32Array>>> = {
  8: Uint8Array,
  16: Uint16Array,
  32: Uint32Array,
};

const others: Readonly<Record<Exclude<SampleKind, 'unsigned'>, Readonly<Record<number, View<Samples>>>>> = {
  signed: { 8: Int8Array, 16: Int16Array, 32: Int32Array },
  float: { 32: Float32Array, 64: Float64Array },
};

function swapBytes(bytes: Uint8Array, bits: number): void {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  if (bits === 16) buffer.swap16();
  else if (bits === 32) buffer.swap32();
  else if (bits === 64) buffer.swap64();
}

/** Unpacks values of 1, 2 or 4 bits, the first in the highest bits; each row begins at a byte. */
function unpackBits(bytes: Uint8Array, length: number, rowBytes: number, bits: number): Uint8Array {
  const rows = bytes.length / rowBytes;
  const values = new Uint8Array(rows * length);
  const inByte = 8 / bits;
  const most = 2 ** bits - 1;
  for (let row = 0, to = 0; row < rows; row++) {
    for (let i = 0; i < length; i++) {
      const byte = bytes[row * rowBytes + Math.floor(i / inByte)]!;
      values[to++] = (byte >> (8 - bits * ((i % inByte) + 1))) & most;
    }
  }
  return values;
}

/** Unpacks units, each of the Y of some pixels, row by row, and of one Cb and one Cr that these pixels share. */
function unpackChroma(
  bytes: Uint8Array,
  { width, rowBytes }: StoredRows,
  [across, down]: readonly [number, number],
): Uint8Array {
  const rows = bytes.length / rowBytes;
  const values = new Uint8Array(rows * down * width * 3);
  const unitBytes = across * down + 2;
  for (let y = 0, to = 0; y < rows * down; y++) {
    const row = Math.floor(y / down) * rowBytes;
    for (let x = 0; x < width; x++) {
      const unit = row + Math.floor(x / across) * unitBytes;
      values[to++] = bytes[unit + (y % down) * across + (x % across)]!;
      values[to++] = bytes[unit + unitBytes - 2]!;
      values[to++] = bytes[unit + unitBytes - 1]!;
    }
  }
  return values;
}
