import type { Grid, Pipeline } from '@halogrid/kernels';

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
