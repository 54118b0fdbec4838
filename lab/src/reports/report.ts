import type { Size } from '@halogrid/geometry';
import type { AskedOperation, Grid } from '@halogrid/kernels';
import type { CudaCall, CudaQuery } from '../cuda/cuda-programs.ts';
import type { Strategy } from './scale.ts';

/** What of the work is timed, and where. */
export type TimedSpan =
  /** The device's kernels, by its own clock. */
  | 'kernel'
  /** The device from pixels in memory to results in memory, one image at a time. */
  | 'whole'
  /** As 'whole', but `images` images in flight; the time of all. */
  | 'batch'
  /** One thread of the cpu device (WebAssembly). */
  | 'cpu'
  /** All threads of the cpu device, an image each; the time an image. */
  | 'threads'
  /** The plain loops of the CPU twin in one thread. */
  | 'twin';

/**
 * What an image shows where it is not random bytes. Atomics contend more on a photograph, whose histogram is uneven.
 */
export type Content = 'photograph';

/** One thing to time. */
export interface TimedWork {
  timer: TimedSpan;
  operations: AskedOperation[];
  output: 'map' | 'histogram' | 'both';
  size: Size;
  /** The kernel's strategy; its default unless given. */
  strategy?: Strategy;
  /** What the image shows; random bytes unless given. */
  content?: Content;
  /** Images of a batch. */
  images?: number;
  /** Histograms of cells. */
  grid?: Grid;
}

/** Two probes with one key are the same measurement. */
export const probeKey = (probe: TimedWork): string => JSON.stringify(probe);

/** How often things are timed. */
export interface Method {
  /** Samples of each image. */
  repetitions: number;
  /** Different random images. */
  images: number;
}

export interface ReportRow {
  /** What tells the row from the others, by column. */
  labels: Record<string, string | number>;
  /** Measured here, by column; in tables the first has its deviation beside it. */
  times: Record<string, TimedWork>;
  /** Beside the first of the times, where it is the same work. */
  cuda?: CudaQuery;
  /** Other ways of the CUDA programs to do it, by the name of their column. */
  otherCuda?: Record<string, CudaQuery>;
  /** The report's own figures for the same size, by the hardware they were measured on and by column. */
  reported?: Record<string, Record<string, number>>;
}

/** Median milliseconds of a column of times, of `cuda` or of `cuda_NAME`; undefined where it was not measured. */
export type MedianMs = (column: string) => number | undefined;

/** A column that follows from measured ones. */
export interface Derived {
  /** Its name in the CSV and in charts. */
  name: string;
  /** Heading in up to three lines. */
  title: string;
  of(medianMs: MedianMs, row: ReportRow): number | undefined;
}

export interface LineChartPlan {
  kind: 'lines';
  /** Part of the file's name: r1-NAME.svg. */
  name: string;
  title: string;
  /** A label. */
  x: string;
  xTitle: string;
  /** Categories are shapes of blocks. */
  xScale: 'log2' | 'category';
  yTitle: string;
  yScale: 'log10' | 'linear';
  /**
   * Labels whose values tell lines apart, the first one by colour. Where nothing tells rows apart, the first is drawn.
   */
  series: string[];
  /**
   * Columns of the CSV that are drawn, and what their lines are called. One that is the same in all rows of a place has
   * one line, which no labels tell apart.
   */
  values: { column: string; name: string; isSameInSeries?: boolean }[];
  /** Rows that are drawn have these labels; all are unless given. */
  only?: Record<string, string | number>;
  /** Whether it shows nothing but what CUDA programs take. */
  isOfCuda?: boolean;
  /** Figures that hold for the whole width. */
  levels?: { name: string; y: number }[];
}

export interface BarChartPlan {
  kind: 'bars';
  name: string;
  title: string;
  /** The label that names a group of bars. */
  group: string;
  xTitle: string;
  xScale: 'log10' | 'linear';
  /** Columns of the CSV, a bar each, and what those are called. */
  values: { column: string; name: string }[];
  /** Which row of a group is drawn, where it has several. */
  best: 'least' | 'most';
}

export interface HeatMapPlan {
  kind: 'heat';
  name: string;
  title: string;
  x: string;
  xTitle: string;
  /** Labels, which name a row of fields together. */
  y: string[];
  /** Columns of the CSV, of which a field shows the first that is there. */
  values: string[];
  /** Rows that are drawn have these labels; all are unless given. */
  only?: Record<string, string | number>;
}

export type ChartPlan = LineChartPlan | BarChartPlan | HeatMapPlan;

export interface ReportTable {
  /** Part of the file's name: r1-NAME.csv. */
  name: string;
  title: string;
  /** What a reader must know, e.g. what the report gives as a plot only. */
  note?: string;
  rows: ReportRow[];
  derived: Derived[];
  charts: ChartPlan[];
  /** Fields of the CUDA rows that have columns of their own, e.g. 'registers' in `cuda_registers`. */
  cudaFields?: string[];
}

/** What a report measured, in a form that can be measured here. */
export interface Report {
  id: string;
  title: string;
  method: Method;
  tables: ReportTable[];
  cuda: ReportCall[];
}

export interface ReportCall extends CudaCall {
  /** The table that needs its rows; all unless given. */
  table?: string;
  /** In place of random bytes. One square is measured, whose side is the argument `sizes`. */
  content?: Content;
}

/** How many times as fast as `slow` something is; both are columns of times, or `cuda`. */
export function speedUp(fast: string, slow: string): Derived {
  return {
    name: `${fast}_speedup_over_${slow}`,
    title: `${fast === 'cuda' ? 'CUDA' : fast}\nx over\n${slow}`,
    of(medianMs) {
      const [slowMs, fastMs] = [medianMs(slow), medianMs(fast)];
      return slowMs === undefined || fastMs === undefined ? undefined : slowMs / fastMs;
    },
  };
}

/** A column that only rows without `time` have: those about CUDA alone. */
export function withoutTime(time: string, derived: Derived): Derived {
  return { ...derived, of: (medianMs, row) => (row.times[time] ? undefined : derived.of(medianMs, row)) };
}

type ChartBySide = Pick<LineChartPlan, 'name' | 'title' | 'series' | 'values' | 'levels'>;

/** A chart of speed-ups by the side of square images. */
export const speedUpsBySide = (chart: ChartBySide): LineChartPlan => ({
  kind: 'lines',
  x: 'side',
  xTitle: 'Side of the image, px',
  xScale: 'log2',
  yTitle: 'Speed-up',
  yScale: 'log10',
  ...chart,
});

/** A chart of times by the side of square images. */
export const timesBySide = (chart: ChartBySide): LineChartPlan => ({
  ...speedUpsBySide(chart),
  yTitle: 'Milliseconds an image',
});
