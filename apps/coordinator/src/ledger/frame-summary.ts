import { crc32 } from 'node:zlib';
import { readCountsAt } from '@halogrid/proto/counts';
import { binsOfSource, digestedBins, type HistogramShape } from '../job/histogram-shape.ts';
import type { ShardAnswer } from '../job/shard.ts';
import { checkCounts, InvalidResultError } from './check-answer.ts';
import { sourceDigest } from './digest.ts';
import { Totals } from './totals.ts';

/** Whole frames of a shard, of the same number of bins each. */
export interface Frames {
  shape: HistogramShape;
  /** By which refusals name them. */
  sources: Float64Array;
  /** Widths and heights in turns. */
  sizes: Float64Array;
  counted: Float64Array;
  binsAFrame: number;
  /** The bins of every cell of each frame, as varints, one frame after another; each of them holds whole numbers. */
  messages: readonly Uint8Array[];
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

/** The frames of an answer where all of it is whole frames, whose bins are as they came; undefined where not. */
export function framesOf(
  { results, packed }: Pick<ShardAnswer, 'results' | 'packed'>,
  shape: HistogramShape,
): Frames | undefined {
  if (!packed || packed.binsAResult !== binsOfSource(shape)) return undefined;
  const count = results.length;
  const [sources, sizes, counted] = [new Float64Array(count), new Float64Array(2 * count), new Float64Array(count)];
  for (let i = 0; i < count; i++) {
    const { source, size, rect, counted: pixels } = results[i]!;
    if (rect.x > 0 || rect.y > 0 || rect.width !== size.width || rect.height !== size.height) return undefined;
    sources[i] = source;
    sizes[2 * i] = size.width;
    sizes[2 * i + 1] = size.height;
    counted[i] = pixels;
  }
  return { shape, sources, sizes, counted, binsAFrame: packed.binsAResult, messages: packed.messages };
}

/** Checks the bins of frames and makes of them what is kept. Throws InvalidResultError where they cannot be right. */
export function summarise({ shape, sources, sizes, counted, binsAFrame, messages }: Frames): FrameSummary {
  const packed = messages.length === 1 ? messages[0]! : Buffer.concat(messages);
  const count = sources.length;
  const digests = new Uint8Array(digestBytes * count);
  const totals = new Totals(shape.channels * shape.bins);
  const [lengths, checksums] = [new Uint32Array(count), new Uint32Array(count)];
  const bins = new Uint32Array(binsAFrame);
  for (let i = 0, at = 0; i < count; i++) {
    const source = sources[i]!;
    const end = readBins(source, packed, at, bins);
    const size = { width: sizes[2 * i]!, height: sizes[2 * i + 1]! };
    const rect = { x: 0, y: 0, ...size };
    checkCounts({ source, size, rect, counted: counted[i]!, bins }, shape);
    digests.set(sourceDigest(size, counted[i]!, digestedBins(shape, bins)), digestBytes * i);
    totals.add(bins, size.width * size.height);
    lengths[i] = end - at;
    checksums[i] = crc32(packed.subarray(at, end));
    at = end;
  }
  return { digests, sums: totals.sums, packed, lengths, checksums };
}

function readBins(source: number, packed: Uint8Array, at: number, bins: Uint32Array): number {
  try {
    return readCountsAt(packed, at, bins);
  } catch (error) {
    throw new InvalidResultError(`The result of source ${source} has bins that are none: ${(error as Error).message}`);
  }
}
