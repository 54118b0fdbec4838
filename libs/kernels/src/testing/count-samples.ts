import { greatest, type MapSamples } from '@halogrid/geometry';
import type { Pipeline } from '../pipeline/pipeline.ts';

/**
 * Counts the samples of a dense result, channel by channel, as docs/kernels/conv.md defines it; f32 and i16 are counted
 * on the scale of 8-bit pixels. `counted` samples of each channel are results; the others are 0 and do not count.
 */
export function countSamples(
  samples: MapSamples,
  counted: number,
  { bins, binning, output, pixel }: Pipeline,
): number[] {
  const { first, width } = binning!;
  const scale = output.sample === 'u8' ? 1 : greatest[pixel] / 255;
  const pixels = samples.length / output.channels.length;
  const binOf = (sample: number) => Math.max(0, Math.min(Math.floor(sample / scale / width) - first, bins - 1));
  return output.channels.flatMap((_, channel) => {
    const counts = new Array<number>(bins).fill(0);
    for (const sample of samples.subarray(channel * pixels, (channel + 1) * pixels)) counts[binOf(sample)]!++;
    counts[binOf(0)]! -= pixels - counted;
    return counts;
  });
}
