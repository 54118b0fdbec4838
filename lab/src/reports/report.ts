import type { Size } from '@halogrid/geometry';
import type { AskedOperation, Grid } from '@halogrid/kernels';
import type { CudaCall, CudaQuery } from '../cuda/cuda-programs.ts';
import type { Strategy } from './scale.ts';

/** The timed part of the work, and where it runs. */
export type TimedSpan =
  /** Kernels of the device, by its own clock. */
  | 'kernel'
  /** The device from pixels in memory to results in memory, one image at a time. */
  | 'whole'
  /** As 'whole', but with `images` images in flight; the time of all. */
  | 'batch'
  /** One thread of the cpu device (WebAssembly). */
  | 'cpu'
  /** All threads of the cpu device, an image each; the time of one image. */
  | 'threads'
  /** The plain loops of the CPU twin in one thread. */
  | 'twin';

/**
 * The content of an image that is not random bytes. Atomics contend more on a photograph, whose histogram is uneven.
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
  /** Content of the image; random bytes unless given. */
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
  /** Values that tell the row from others, by column. */
  labels: Record<string, string | number>;
  /** Times measured here, by column. In tables the first has its deviation beside it. */
  times: Record<string, TimedWork>;
  /** The CUDA program with the same work as the first of the times. */
  cuda?: CudaQuery;
  /** Other ways of the CUDA programs to do it, by the name of their column. */
  otherCuda?: Record<string, CudaQuery>;
  /** The report's own figures for the same size, by its hardware and by column. */
  reported?: Record<string, Record<string, number>>;
}

/** Median milliseconds of a column of times, of `cuda` or of `cuda_NAME`; undefined if it was not measured. */
export type MedianMs = (column: string) => number | undefined;

/** A column computed from measured ones. */
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
  /** Labels whose values tell lines apart, the first label by colour. If they do not, the first row is drawn. */
  series: string[];
  /**
   * Drawn columns of the CSV, and the names of their lines. A column with `isSameInSeries` has the same value in all
   * rows of one x, and so a single line.
   */
  values: { column: string; name: string; isSameInSeries?: boolean }[];
  /** Labels of the drawn rows; all rows unless given. */
  only?: Record<string, string | number>;
  /** Whether it shows times of CUDA programs only. */
  isOfCuda?: boolean;
  /** Figures across the whole width. */
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
  /** Columns of the CSV, a bar each, and the names of the bars. */
  values: { column: string; name: string }[];
  /** Which row of a group is drawn if it has several. */
  best: 'least' | 'most';
}

export interface HeatMapPlan {
  kind: 'heat';
  name: string;
  title: string;
  x: string;
  xTitle: string;
  /** Labels that together name a row of fields. */
  y: string[];
  /** Columns of the CSV. A field shows the first one that has a value. */
  values: string[];
  /** Labels of the drawn rows; all rows unless given. */
  only?: Record<string, string | number>;
}

export type ChartPlan = LineChartPlan | BarChartPlan | HeatMapPlan;

export interface ReportTable {
  /** Part of the file's name: r1-NAME.csv. */
  name: string;
  title: string;
  /** A note for readers, such as what the report gives as a plot only. */
  note?: string;
  rows: ReportRow[];
  derived: Derived[];
  charts: ChartPlan[];
  /** Fields of CUDA rows that become columns: 'registers' becomes `cuda_registers`. */
  cudaFields?: string[];
}

/** The measurements of a report, in a form that can be measured here. */
export interface Report {
  id: string;
  title: string;
  method: Method;
  tables: ReportTable[];
  cuda: ReportCall[];
}

export interface ReportCall extends CudaCall {
  /** The table that needs its rows; all tables unless given. */
  table?: string;
  /** Content in place of random bytes. Then one square is measured; its side is the argument `sizes`. */
  content?: Content;
}

/** How many times as fast as `slow` the column `fast` is. Both are columns of times, or `cuda`. */
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

/** A column for rows without `time` only, which are about CUDA alone. */
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
