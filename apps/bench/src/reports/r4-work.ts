import type { AskedOperation, Grid } from '@halogrid/kernels';
import { type Probe, speedUp, type Timer } from './report.ts';
import { square } from './scale.ts';

// What the tables of R4 measure: histograms of LDP, by halogrid and by the CUDA programs.

/** Side of the blocks whose histograms the report puts side by side. */
const blockSide = 16;

export const ldp = (order: number): AskedOperation => ({ kernel: 'ldp', parameters: { order: String(order) } });

export const probe = (timer: Timer, side: number, order = 3, more?: Partial<Probe>): Probe => ({
  timer,
  operations: [ldp(order)],
  output: 'histogram',
  size: square(side),
  ...more,
});

export const cpus = (side: number, order = 3) => ({
  cpu: probe('cpu', side, order),
  threads: probe('threads', side, order),
  twin: probe('twin', side, order),
});

/** Every block of an image has a histogram. */
export const inGrid = (side: number): { grid: Grid } => ({
  grid: { rows: side / blockSide, columns: side / blockSide },
});

export type Histograms = 'total' | 'blocks';

export const cuda = (name: string | string[], side: number, order = 3, histograms: Histograms = 'total') => ({
  name,
  width: side,
  order,
  histograms,
  block: `${blockSide}x${blockSide}`,
});

/** The column of a row of the CUDA programs. */
export const columnOf = (name: string): string => name.replaceAll('-', '_');

export const speedUps = [speedUp('kernel', 'cpu'), speedUp('kernel', 'threads'), speedUp('kernel', 'twin')];
