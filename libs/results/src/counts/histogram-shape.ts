import type { Size } from '@halogrid/geometry';
import type { Grid, Pipeline } from '@halogrid/kernels';
import { cellsOf } from '@halogrid/kernels/grid';

/** How the bins of a source lie: cells row by row, of each every channel, one channel after another. */
export interface HistogramShape {
  grid: Grid;
  channels: number;
  /** Bins a channel; 0 where the pipeline has no histogram. */
  bins: number;
  /** Devices count in their own ways, so that the digest leaves the bins out. */
  isNear?: true;
}

export function histogramShape(
  { output, bins, binning }: Pick<Pipeline, 'output' | 'bins' | 'binning'>,
  grid: Grid,
): HistogramShape {
  return { grid, channels: output.channels.length, bins, ...(binning?.isExact === false && { isNear: true }) };
}

/** Bins of one cell. */
export const binsOfCell = ({ channels, bins }: HistogramShape): number => channels * bins;

/** The bins of a source that its digest has: none where devices count in their own ways. */
export const digestedBins = <Bins extends ArrayLike<number>>({ isNear }: HistogramShape, bins: Bins): Bins | [] =>
  isNear ? [] : bins;

/** Bins of a source: of all cells, those without pixels too. */
export const binsOfSource = (shape: HistogramShape): number => shape.grid.rows * shape.grid.columns * binsOfCell(shape);

/** Whether a cell is the whole image, so that there is nothing to lay out. */
export const isOneCell = ({ rows, columns }: Grid): boolean => rows === 1 && columns === 1;

/** The counts of all cells of an image by those of the cells that have pixels, which come row by row, and are integers below 2^32. */
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
