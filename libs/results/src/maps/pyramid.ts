import { type Size, sampleBytes } from '@halogrid/geometry';
import { bytesPerPixel, type MapKind, type MapType } from '../layout/map-type.ts';
import { halfOf, halve } from './halve.ts';

/**
 * The most bytes of the map's strip, unless two rows have more. The strips of all levels together have at most twice
 * this.
 */
const stripBytes = 32 * 2 ** 20;

/**
 * The sizes of a map and of its coarser levels, each half of the one before, down to the first with no side above
 * `sidePx`.
 */
export function pyramidSizes(size: Size, sidePx: number): Size[] {
  const sizes = [size];
  for (let last = size; last.width > sidePx || last.height > sidePx; sizes.push(last)) {
    last = { width: halfOf(last.width), height: halfOf(last.height) };
  }
  return sizes;
}

/** Rows of a strip for tiles of `tilePx` rows, a power of two: `tilePx`, or a smaller power of two, at least 2. */
export function stripRows(width: number, type: MapType, tilePx: number): number {
  let rows = tilePx;
  while (rows > 2 && rows * width * bytesPerPixel(type) > stripBytes) rows /= 2;
  return rows;
}

export interface PyramidOptions {
  /** The sizes of `pyramidSizes`; only the first for a map without coarser levels. */
  sizes: readonly Size[];
  type: MapType;
  kind: MapKind;
  /** Whether some pixels may have no value. */
  hasNoData?: boolean;
  /** Rows of a strip in every level; even. */
  stripRows: number;
  /** Fills `strip` with rows of the map, from row `y` on: the bands one after another, each without gaps. */
  read(y: number, rows: number, strip: Uint8Array): Promise<void>;
  /** Takes rows of a level, laid out in the same way. The bytes of `strip` change once it resolves. */
  write(level: number, y: number, rows: number, strip: Uint8Array): Promise<void>;
}

/** The rows of a level that are being gathered. */
interface Strip {
  size: Size;
  y: number;
  rows: number;
  filled: number;
  buffer: Uint8Array;
}

/**
 * Makes all levels of a map in one pass from the top to the bottom. `halve` makes each level from the level below, so
 * levels depend on the map alone. `write` gets the rows of each level in order, strip by strip.
 */
export async function buildPyramid(options: PyramidOptions): Promise<void> {
  const { sizes, type, kind, hasNoData, read, write } = options;
  const bytesOf = (rows: number, { width }: Size): number => rows * width * bytesPerPixel(type);
  const strips = sizes.map((size): Strip => {
    const rows = Math.min(options.stripRows, size.height);
    return { size, y: 0, rows, filled: 0, buffer: new Uint8Array(bytesOf(rows, size)) };
  });

  /** Writes the full strip of a level, and adds half of it to the strip of the next level. */
  const pass = async (level: number): Promise<void> => {
    const strip = strips[level]!;
    const { size, y, rows, buffer } = strip;
    const bytes = buffer.subarray(0, bytesOf(rows, size));
    await write(level, y, rows, bytes);
    const next = strips[level + 1];
    if (next) {
      const [bandBytes, nextBandBytes] = [bytes.length / type.bands, bytesOf(next.rows, next.size) / type.bands];
      const rowBytes = next.size.width * sampleBytes[type.sample];
      const halfBytes = halfOf(rows) * rowBytes;
      for (let band = 0; band < type.bands; band++) {
        const plane = bytes.subarray(band * bandBytes, (band + 1) * bandBytes);
        const at = band * nextBandBytes + next.filled * rowBytes;
        const half = next.buffer.subarray(at, at + halfBytes);
        halve(plane, { width: size.width, height: rows }, type.sample, kind, half, hasNoData);
      }
      next.filled += halfOf(rows);
      if (next.filled === next.rows) await pass(level + 1);
    }
    strip.y += rows;
    strip.rows = Math.min(options.stripRows, size.height - strip.y);
    strip.filled = 0;
  };

  const first = strips[0]!;
  while (first.rows > 0) {
    await read(first.y, first.rows, first.buffer.subarray(0, bytesOf(first.rows, first.size)));
    await pass(0);
  }
}

/** Writes the levels of a map to a temporary path. `assembleMap` renames it when the map is whole. */
export interface MapWriter {
  /** Takes rows of a level, from the top to the bottom: the bands one after another, each without gaps between rows. */
  writeRows(level: number, y: number, rows: number, strip: Uint8Array): Promise<void>;
  /** Makes everything durable. Nothing may be written afterwards. */
  finish(): Promise<void>;
  /** Closes open files after a failure. The caller removes the files. */
  abort(): Promise<void>;
}
