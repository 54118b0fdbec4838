import { evenChannels, type HistogramShape, mostCounts } from './histogram-shape.ts';

/**
 * The number of pixels that every channel of a cell counts; of several bands, what the channels of the first one count,
 * and of matrices, what the first one counts. The bins of the cell begin at index `first`. If the counts cannot be
 * right, returns a clause that says why: a count that is not a whole number from 0 on, channels that differ, or more
 * than the `pixelsOfCell` pixels of the cell can give.
 */
export function cellPixels(
  shape: HistogramShape,
  bins: ArrayLike<number>,
  first: number,
  pixelsOfCell: number,
): number | string {
  const { channels, bins: length } = shape;
  const even = evenChannels(shape);
  const most = mostCounts(shape, pixelsOfCell);
  // An array of uint32 holds nothing but whole numbers from 0 on.
  const areCounts = bins instanceof Uint32Array;
  let pixels = 0;
  /** What the first channel of the band, or the matrix, counts. */
  let own = 0;
  for (let channel = 0; channel < channels; channel++) {
    let sum = 0;
    const from = first + channel * length;
    for (let i = from; i < from + length; i++) {
      if (!areCounts && (!Number.isSafeInteger(bins[i]) || bins[i]! < 0)) return `has ${bins[i]} pixels in bin ${i}`;
      sum += bins[i]!;
    }
    if (channel === 0) pixels = sum;
    if (channel % even === 0) own = sum;
    if (sum !== own)
      return `has ${own} pixels in channel ${channel - (channel % even)} of a cell but ${sum} in channel ${channel}`;
    if (sum > most) return `has ${sum} pixels in a cell of ${most}`;
  }
  return pixels;
}
