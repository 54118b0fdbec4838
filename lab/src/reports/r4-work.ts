import type { AskedOperation, Grid } from '@halogrid/kernels';
import { speedUp, type TimedSpan, type TimedWork } from './report.ts';
import { squareSize } from './scale.ts';

// The work of R4's tables: histograms of LDP, by halogrid and by the CUDA programs.

/** Side of the report's blocks, each with a histogram. */
const blockSide = 16;

export const ldpOfOrder = (order: number): AskedOperation => ({ kernel: 'ldp', parameters: { order: String(order) } });

export const ldpWork = (timer: TimedSpan, side: number, order = 3, more?: Partial<TimedWork>): TimedWork => ({
  timer,
  operations: [ldpOfOrder(order)],
  output: 'histogram',
  size: squareSize(side),
  ...more,
});

export const cpus = (side: number, order = 3) => ({
  cpu: ldpWork('cpu', side, order),
  threads: ldpWork('threads', side, order),
  twin: ldpWork('twin', side, order),
});

/** Every block of an image has a histogram. */
export const inGrid = (side: number): { grid: Grid } => ({
  grid: { rows: side / blockSide, columns: side / blockSide },
});

export type HistogramCut = 'total' | 'blocks';

export const cuda = (name: string | string[], side: number, order = 3, histograms: HistogramCut = 'total') => ({
  name,
  width: side,
  order,
  histograms,
  block: `${blockSide}x${blockSide}`,
});

/** The name of a column for a way of the CUDA programs. */
export const columnOf = (name: string): string => name.replaceAll('-', '_');

export const speedUps = [speedUp('kernel', 'cpu'), speedUp('kernel', 'threads'), speedUp('kernel', 'twin')];
