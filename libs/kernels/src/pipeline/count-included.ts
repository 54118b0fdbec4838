import {
  type BitPlane,
  countBits,
  emptySample,
  hasBit,
  type MapSamples,
  type Rect,
  type SampleType,
  sampleBytes,
  viewSamples,
} from '@halogrid/geometry';
import { binOf } from '../kernel/binning.ts';
import { addTransposes, pairedPixels } from '../kernel/pairs.ts';
import type { DenseResult, ItemResult, PlaneItem } from '../kernel/plane-item.ts';
import type { Pipeline } from './pipeline.ts';
import { restrict } from './pipeline-item.ts';

/** The planes of excluded pixels, see excludedPixels, by channel. */
export const planeOfChannel = (planes: readonly BitPlane[], channel: number): BitPlane =>
  planes[Math.min(channel, planes.length - 1)]!;

/** The pixels that have a result in a channel, in the stored plane's coordinates. */
export function pixelsOfChannel({ pairs, operations }: Pipeline, item: PlaneItem, channel: number): Rect {
  return pairs ? pairedPixels(item, pairs.steps[channel]!, operations.at(-1)!.border) : item.valid;
}

/** The number of counted pixels of an item; if results are pairs, the sum of the first channel's bins. */
export function countedOf(pipeline: Pipeline, item: PlaneItem, excluded?: readonly BitPlane[]): number {
  const { x, y, width, height } = pixelsOfChannel(pipeline, item, 0);
  const without = excluded && countBits(excluded[0]!, { x: x - item.out.x, y: y - item.out.y, width, height });
  return (width * height - (without ?? 0)) * (pipeline.pairs?.isSymmetric ? 2 : 1);
}

/**
 * The counts of each part of an item, from its dense result, in which it puts the value of excluded pixels. It is the
 * reference of count-included.wgsl.
 */
export function countIncluded(
  pipeline: Pipeline,
  item: PlaneItem,
  parts: readonly Rect[],
  excluded: readonly BitPlane[],
  map: DenseResult,
): ItemResult {
  const { bins, binning, output, pairs, operations } = pipeline;
  const { reads = 'u8' } = operations.at(-1)!;
  const { out } = item;
  const channels = output.channels.length;
  const samples = viewOf(map, output.sample);
  const unit = sampleBytes[output.sample];
  const empty = emptySample[output.sample];
  const counts = new Uint32Array(parts.length * channels * bins);
  const count = binning ? counterOf((value) => binOf(value, bins, binning, reads)) : countValues;
  for (let channel = 0; channel < channels; channel++) {
    const plane = planeOfChannel(excluded, channel);
    for (const [i, part] of parts.entries()) {
      const counted = pixelsOfChannel(pipeline, restrict(item, part), channel);
      const first = (i * channels + channel) * bins;
      const end = part.x + part.width;
      for (let y = part.y; y < part.y + part.height; y++) {
        const row = y - out.y;
        // Where the sample of x = 0 would be.
        const start = (channel * map.bandBytes + row * map.stride) / unit - out.x;
        const isCounted = bins > 0 && y >= counted.y && y < counted.y + counted.height;
        const [from, to] = isCounted ? [counted.x, counted.x + counted.width] : [end, end];
        for (let x = part.x; x < end; ) {
          const blankEnd = Math.min(end, out.x + endOfWords(plane, x - out.x, row, 0));
          count(samples, start + Math.max(x, from), start + Math.min(blankEnd, to), counts, first);
          const fullEnd = Math.min(end, out.x + endOfWords(plane, blankEnd - out.x, row, allBits));
          samples.fill(empty, start + blankEnd, start + fullEnd);
          const wordEnd = Math.min(end, fullEnd + 32 - ((fullEnd - out.x) & 31));
          for (x = fullEnd; x < wordEnd; x++) {
            if (hasBit(plane, x - out.x, row)) samples[start + x] = empty;
            else if (x >= from && x < to) count(samples, start + x, start + x + 1, counts, first);
          }
        }
      }
    }
  }
  if (pairs?.isSymmetric) addTransposes(counts, pairs.levels);
  return { counted: countedOf(pipeline, item, excluded), bins: counts, map };
}

/** Counts the samples from `begin` on and before `end`, in bins that begin at `first`. */
type Count = (samples: MapSamples, begin: number, end: number, counts: Uint32Array, first: number) => void;

/** Each value is its bin. */
const countValues: Count = (samples, begin, end, counts, first) => {
  for (let i = begin; i < end; i++) counts[first + samples[i]!]!++;
};

const counterOf =
  (bin: (value: number) => number): Count =>
  (samples, begin, end, counts, first) => {
    for (let i = begin; i < end; i++) counts[first + bin(samples[i]!)]!++;
  };

const allBits = 2 ** 32 - 1;

/** The end of the words from that of bit x on that are `value`; `x` if its word is another. */
function endOfWords({ words, rowWords }: BitPlane, x: number, y: number, value: number): number {
  const row = y * rowWords;
  let word = x >>> 5;
  while (word < rowWords && words[row + word] === value) word++;
  return Math.max(x, 32 * word);
}

/** All samples of a dense result. */
const viewOf = ({ bytes }: DenseResult, sample: SampleType): MapSamples =>
  viewSamples(sample, bytes.buffer as ArrayBuffer, bytes.byteOffset, Math.floor(bytes.length / sampleBytes[sample]));
