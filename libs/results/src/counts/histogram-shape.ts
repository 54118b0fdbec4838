import type { Size } from '@halogrid/geometry';
import type { Grid, Pipeline } from '@halogrid/kernels';
import { cellsOf } from '@halogrid/kernels/grid';

/** The order of a source's bins: cells row by row, and in each cell one channel after another. */
export interface HistogramShape {
  grid: Grid;
  channels: number;
  /** Bins per channel; 0 if the pipeline has no histogram. */
  bins: number;
  /** Devices may count differently, so the digest leaves the bins out. */
  isNear?: true;
  /** The number of bands that were read, if several: each has the same number of channels, and its own pixels. */
  bands?: number;
  /** Set if each channel is a co-occurrence matrix; absent if every channel of a band counts the same pixels once. */
  matrices?: Matrices;
}

/** Channels that are co-occurrence matrices. Each counts the pixels that have a partner at its own offset. */
export interface Matrices {
  /** The rows of a matrix, and its columns. */
  readonly levels: number;
  /** Whether each pair counts in both directions. */
  readonly isSymmetric: boolean;
  /** The names of the channels. */
  readonly names: readonly string[];
}

export function histogramShape(
  { output, bins, binning, pairs, bands }: Pick<Pipeline, 'output' | 'bins' | 'binning' | 'pairs' | 'bands'>,
  grid: Grid,
): HistogramShape {
  const { channels } = output;
  const isNear = binning?.isExact === false || undefined;
  const shape = { grid, channels: channels.length, bins, isNear, ...(bands && { bands: bands.length }) };
  if (!pairs) return shape;
  const { levels, isSymmetric } = pairs;
  return { ...shape, matrices: { levels, isSymmetric, names: channels } };
}

/** The most that a channel counts in `pixels` pixels. */
export const mostCounts = ({ matrices }: HistogramShape, pixels: number): number =>
  matrices?.isSymmetric ? 2 * pixels : pixels;

/** Channels from the first one on that count the same pixels once; matrices may differ, and so may bands. */
export const evenChannels = ({ channels, bands = 1, matrices }: HistogramShape): number =>
  matrices ? 1 : channels / bands;

/** Bins of one cell, in all channels. */
export const binsOfCell = ({ channels, bins }: HistogramShape): number => channels * bins;

/** The bins of a source that enter its digest: none if devices may count differently. */
export const digestedBins = <Bins extends ArrayLike<number>>({ isNear }: HistogramShape, bins: Bins): Bins | [] =>
  isNear ? [] : bins;

/** Bins of a source, in all cells, also in cells without pixels. */
export const binsOfSource = (shape: HistogramShape): number => shape.grid.rows * shape.grid.columns * binsOfCell(shape);

/** Whether the only cell is the whole image. */
export const isOneCell = ({ rows, columns }: Grid): boolean => rows === 1 && columns === 1;

/** The counts of all cells of an image, from the counts of the cells that have pixels, row by row. */
export function allCells(shape: HistogramShape, size: Size, counts: Uint32Array): Uint32Array {
  if (counts.length === binsOfSource(shape)) return counts;
  const { grid } = shape;
  const all = new Uint32Array(binsOfSource(shape));
  const cellBins = binsOfCell(shape);
  for (const [i, { row, column }] of cellsOf(grid, size, { x: 0, y: 0, ...size }).entries()) {
    all.set(counts.subarray(i * cellBins, (i + 1) * cellBins), (row * grid.columns + column) * cellBins);
  }
  return all;
}
