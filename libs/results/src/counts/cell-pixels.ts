import type { HistogramShape } from './histogram-shape.ts';

/**
 * The number of pixels that every channel of a cell counts. The bins of the cell begin at index `first`. If the counts
 * cannot be right, returns a clause that says why: a count that is not a whole number from 0 on, channels that differ,
 * or more than the `most` pixels of the cell.
 */
export function cellPixels(
  { channels, bins: length }: HistogramShape,
  bins: ArrayLike<number>,
  first: number,
  most: number,
): number | string {
  // An array of uint32 holds nothing but whole numbers from 0 on.
  const areCounts = bins instanceof Uint32Array;
  let pixels = 0;
  for (let channel = 0; channel < channels; channel++) {
    let sum = 0;
    const from = first + channel * length;
    for (let i = from; i < from + length; i++) {
      if (!areCounts && (!Number.isSafeInteger(bins[i]) || bins[i]! < 0)) return `has ${bins[i]} pixels in bin ${i}`;
      sum += bins[i]!;
    }
    if (channel === 0) pixels = sum;
    if (sum !== pixels) return `has ${pixels} pixels in channel 0 of a cell but ${sum} in channel ${channel}`;
  }
  return pixels > most ? `has ${pixels} pixels in a cell of ${most}` : pixels;
}
