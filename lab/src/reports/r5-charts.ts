import { reportColumn } from './evaluate-table.ts';
import { plainLoop } from './plain-loop.ts';
import { cudaNames, rtx3060Ti } from './r5-figures.ts';
import { type LineChartPlan, speedUpsBySide } from './report.ts';

/** Lines of every chart by size, for one kernel. */
const lines = [
  { column: 'kernel_speedup_over_cpu', name: '' },
  ...cudaNames.flatMap((name) => [
    { column: `cuda_${name}_speedup_over_cpu`, name: `CUDA ${name} here`, isSameInSeries: true },
    reported(name),
  ]),
  { column: `${plainLoop}_speedup_over_cpu`, name: 'the report’s loop here', isSameInSeries: true },
];
export const overTheLoop = 'Speed-up over the report’s loop in one thread';
/** The same over the report's loop, and the speed-up of halogrid's CPU code over it. */
export const loopLines = [
  { column: `kernel_speedup_over_${plainLoop}`, name: '' },
  ...cudaNames.flatMap((name) => [
    {
      column: `cuda_${name}_speedup_over_${plainLoop}`,
      name: `CUDA ${name} here`,
      isSameInSeries: true,
    },
    reported(name),
  ]),
  { column: `cpu_speedup_over_${plainLoop}`, name: 'halogrid, one thread', isSameInSeries: true },
];

function reported(name: string) {
  return { ...reportedIn(name), isSameInSeries: true };
}

/** The report's own factors of a kernel. */
export function reportedIn(name: string) {
  return { column: reportColumn(rtx3060Ti, `${name} x`), name: `report (${rtx3060Ti}), ${name}, over its loop` };
}

/**
 * Whole runs, because the report's times include transfers: halogrid, each CUDA kernel here, and each of the report.
 */
export const wholeLines = [
  { column: `whole_speedup_over_${plainLoop}`, name: 'halogrid, whole run' },
  ...cudaNames.flatMap((name) => [
    { column: `cuda_${name}_whole_speedup_over_${plainLoop}`, name: `CUDA ${name} here, whole run` },
    reported(name),
  ]),
  { column: `cpu_speedup_over_${plainLoop}`, name: 'halogrid, one thread', isSameInSeries: true },
];
export const wholeTimes = [
  { column: 'whole_median_ms', name: 'halogrid, whole run' },
  ...cudaNames.flatMap((name) => [
    { column: `cuda_${name}_whole_median_ms`, name: `CUDA ${name} here, whole run` },
    { column: reportColumn(rtx3060Ti, `${name} ms`), name: `report (${rtx3060Ti}), ${name}` },
  ]),
];

/** Speed-ups of RGB images, a line a strategy. */
export function chart(name: string, title: string, more: Partial<LineChartPlan>): LineChartPlan {
  return {
    ...speedUpsBySide({ name, title: `${title}, RGB`, series: ['strategy'], values: lines }),
    yTitle: 'Speed-up over one CPU thread',
    ...more,
  };
}
