import { type Rect, type Size, sampleBytes } from '@halogrid/geometry';
import type { MapType } from '../layout/map-type.ts';
import { previewStride } from '../layout/preview-grid.ts';
import type { PlanarSamples } from './planar-samples.ts';

/**
 * The most pixels that are summed along each side of a block. With this limit, summing costs less than decoding,
 * however large the image is.
 */
const mostTaps = 16;

/** A part of a source's pixels, for which one chunk is written. */
interface SourcePart {
  /** The size of the whole image. */
  size: Size;
  type: MapType;
  rect: Rect;
}

/**
 * The blocks that a part reaches into, in the picture's coordinates. Each pixel of a source's picture shows the mean of
 * a block of `previewStride` x `previewStride` pixels; in a block of more than 16 x 16, the mean of 16 x 16 pixels,
 * evenly spread. A part of the image keeps sums, because a block may lie in several parts, and sums are exact in any
 * order.
 */
export function blocksOf({ size, type, rect }: SourcePart): Rect {
  const stride = previewStride(size, type.bands);
  const [x, y] = [Math.floor(rect.x / stride), Math.floor(rect.y / stride)];
  return {
    x,
    y,
    width: Math.ceil((rect.x + rect.width) / stride) - x,
    height: Math.ceil((rect.y + rect.height) / stride) - y,
  };
}

/** Bytes of a sum: 256 pixels of 255 sum to less than 2^16. The sum of a block of one pixel is that pixel. */
export const sumBytes = ({ size, type }: Pick<SourcePart, 'size' | 'type'>): number =>
  (previewStride(size, type.bands) === 1 ? 1 : 2) * sampleBytes[type.sample];

/** The sums of the blocks that the part reaches into: bands one after another, without gaps. */
export function sumBlocks(part: SourcePart, { bytes, strideBytes, bandBytes }: PlanarSamples): Uint8Array {
  const { size, type, rect } = part;
  const unit = sampleBytes[type.sample];
  const [blocks, stride] = [blocksOf(part), previewStride(size, type.bands)];
  const { block, begin, end } = tapsWithin(rect.x, rect.width, blocks.x, stride);
  const rows = tapsWithin(rect.y, rect.height, blocks.y, stride);
  const sums = new sumArrays[sumBytes(part) as keyof typeof sumArrays](blocks.width * blocks.height * type.bands);
  for (let band = 0; band < type.bands; band++) {
    for (let i = 0; i < rows.block.length; i++) {
      const to = (band * blocks.height + rows.block[i]!) * blocks.width;
      for (let y = rows.begin[i]!; y < rows.end[i]!; y++) {
        const from = band * bandBytes + y * strideBytes;
        for (let j = 0; j < block.length; j++) {
          sums[to + block[j]!]! += sumOf(bytes, from + begin[j]! * unit, from + end[j]! * unit, unit);
        }
      }
    }
  }
  return new Uint8Array(sums.buffer);
}

/** The sum of samples that lie together. */
function sumOf(bytes: Uint8Array, begin: number, end: number, unit: number): number {
  let sum = 0;
  if (unit === 1) for (let at = begin; at < end; at++) sum += bytes[at]!;
  else for (let at = begin; at < end; at += 2) sum += bytes[at]! + 256 * bytes[at + 1]!;
  return sum;
}

/** Adds the sums of a part to the sums `all` of the whole image. */
export function addSums(part: SourcePart, bytes: Uint8Array<ArrayBuffer>, all: Uint32Array): void {
  const blocks = blocksOf(part);
  const whole = blocksOf({ ...part, rect: { x: 0, y: 0, ...part.size } });
  const sums = new sumArrays[sumBytes(part) as keyof typeof sumArrays](bytes.buffer, bytes.byteOffset);
  for (let row = 0, i = 0; row < blocks.height * part.type.bands; row++) {
    const band = Math.floor(row / blocks.height);
    const to = (band * whole.height + blocks.y + (row % blocks.height)) * whole.width + blocks.x;
    for (let column = 0; column < blocks.width; column++) all[to + column]! += sums[i++]!;
  }
}

/**
 * The means of all blocks of the image: each sum divided by its number of pixels, rounded to the nearest, halves up.
 */
export function meansOf(size: Size, { sample, bands }: MapType, sums: Uint32Array): Uint8Array {
  const stride = previewStride(size, bands);
  const [columns, rows] = [tapCounts(size.width, stride), tapCounts(size.height, stride)];
  const means = sample === 'u8' ? new Uint8Array(sums.length) : new Uint16Array(sums.length);
  for (let i = 0; i < means.length; i++) {
    const pixels = columns[i % columns.length]! * rows[Math.floor(i / columns.length) % rows.length]!;
    means[i] = Math.floor((2 * sums[i]! + pixels) / (2 * pixels));
  }
  return new Uint8Array(means.buffer);
}

const sumArrays = { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array } as const;

/** The pixels along a side of a block that are summed. */
function tapsOf(stride: number): number[] {
  const taps = Math.min(stride, mostTaps);
  return Array.from({ length: taps }, (_, i) => Math.floor((i * stride) / taps));
}

/** Stretches of pixels that are summed, each in one block: typed arrays, because they are read for each row. */
interface Taps {
  block: Int32Array;
  begin: Int32Array;
  end: Int32Array;
}

/** The summed pixels in a stretch of the image, counted from `from`, and their blocks, counted from `first`. */
function tapsWithin(from: number, length: number, first: number, stride: number): Taps {
  const [block, begin, end]: [number[], number[], number[]] = [[], [], []];
  const taps = tapsOf(stride);
  for (let one = 0; (first + one) * stride < from + length; one++) {
    for (const tap of taps) {
      const pixel = (first + one) * stride + tap - from;
      if (pixel < 0 || pixel >= length) continue;
      if (block.at(-1) === one && end.at(-1) === pixel) end[end.length - 1] = pixel + 1;
      else {
        block.push(one);
        begin.push(pixel);
        end.push(pixel + 1);
      }
    }
  }
  return { block: Int32Array.from(block), begin: Int32Array.from(begin), end: Int32Array.from(end) };
}

/** The number of summed pixels in each block along a side of the image; the last block may reach beyond the image. */
function tapCounts(side: number, stride: number): number[] {
  const taps = tapsOf(stride);
  return Array.from({ length: Math.ceil(side / stride) }, (_, block) => {
    return taps.filter((tap) => block * stride + tap < side).length;
  });
}
