import { crc32 } from 'node:zlib';
import { varintsLength, writeVarints } from '@halogrid/proto/varints';
import { digestedBins, type HistogramShape } from '../job/histogram-shape.ts';
import type { SourceResult } from '../job/shard.ts';
import { checkCounts } from './check-answer.ts';
import { sourceDigest } from './digest.ts';
import { Totals } from './totals.ts';

/** Whole frames of a shard, each with the bins of every cell, one frame after another. */
export interface Frames {
  shape: HistogramShape;
  /** By which refusals name them. */
  sources: Float64Array;
  /** Widths and heights in turns. */
  sizes: Float64Array;
  counted: Float64Array;
  bins: Uint32Array;
}

/** All that is kept of the bins of frames. */
export interface FrameSummary {
  /** Of each frame, end to end: see sourceDigest. */
  digests: Uint8Array;
  /** The sums over all cells of all frames. */
  sums: BigUint64Array;
  /** The counts of each frame as a HistogramSpool keeps them, end to end, with the length and the CRC-32 of each. */
  packed: Uint8Array;
  lengths: Uint32Array;
  checksums: Uint32Array;
}

const digestBytes = 32;

/**
 * Bins of an answer at least that are worth a thread: starting one takes 60 to 100 ms of processor time, and most jobs are over by
 * then.
 */
const worthBins = 2 ** 17;

/**
 * The frames of an answer where all of it is that, by one pipeline and off the wire in one array, and they are many; undefined
 * where not.
 */
export function framesOf(
  results: readonly SourceResult[],
  shape: HistogramShape,
  binsAFrame: number,
): Frames | undefined {
  const first = results[0]?.bins;
  if (!(first instanceof Uint32Array) || results.length * binsAFrame < worthBins) return undefined;
  const { buffer, byteOffset } = first;
  const count = results.length;
  const [sources, sizes, counted] = [new Float64Array(count), new Float64Array(2 * count), new Float64Array(count)];
  for (const [i, { source, size, rect, bins, counted: pixels, pipeline = 0 }] of results.entries()) {
    if (!(bins instanceof Uint32Array) || bins.length !== binsAFrame || pipeline > 0) return undefined;
    if (bins.buffer !== buffer || bins.byteOffset !== byteOffset + 4 * binsAFrame * i) return undefined;
    if (rect.x > 0 || rect.y > 0 || rect.width !== size.width || rect.height !== size.height) return undefined;
    sources[i] = source;
    sizes.set([size.width, size.height], 2 * i);
    counted[i] = pixels;
  }
  return { shape, sources, sizes, counted, bins: new Uint32Array(buffer, byteOffset, binsAFrame * count) };
}

/** Checks the bins of frames and makes of them what is kept. Throws InvalidResultError where they cannot be right. */
export function summarise({ shape, sources, sizes, counted, bins }: Frames): FrameSummary {
  const count = sources.length;
  const binsAFrame = bins.length / count;
  const digests = new Uint8Array(digestBytes * count);
  const totals = new Totals(shape.channels * shape.bins);
  const packed = new Uint8Array(varintsLength(bins));
  const [lengths, checksums] = [new Uint32Array(count), new Uint32Array(count)];
  for (let i = 0, at = 0; i < count; i++) {
    const own = bins.subarray(binsAFrame * i, binsAFrame * (i + 1));
    const size = { width: sizes[2 * i]!, height: sizes[2 * i + 1]! };
    const rect = { x: 0, y: 0, ...size };
    checkCounts({ source: sources[i]!, size, rect, counted: counted[i]!, bins: own }, shape);
    digests.set(sourceDigest(size, counted[i]!, digestedBins(shape, own)), digestBytes * i);
    totals.add(own, size.width * size.height);
    const end = writeVarints(own, packed, at);
    lengths[i] = end - at;
    checksums[i] = crc32(packed.subarray(at, end));
    at = end;
  }
  return { digests, sums: totals.sums, packed, lengths, checksums };
}
