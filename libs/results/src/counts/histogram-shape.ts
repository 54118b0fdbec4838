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
}

export function histogramShape(
  { output, bins, binning }: Pick<Pipeline, 'output' | 'bins' | 'binning'>,
  grid: Grid,
): HistogramShape {
  return { grid, channels: output.channels.length, bins, isNear: binning?.isExact === false || undefined };
}

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
