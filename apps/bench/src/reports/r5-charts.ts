import { reportColumn } from './evaluate-table.ts';
import { cudaNames, rtx3060Ti } from './r5-figures.ts';
import { type LineChartPlan, speedUpsBySide } from './report.ts';

/** Lines of every chart by size: what is shown for each kernel. */
const lines = [
  { column: 'kernel_speedup_over_cpu', name: '' },
  ...cudaNames.flatMap((name) => [
    { column: `cuda_${name}_speedup_over_cpu`, name: `CUDA ${name} here`, isSameInSeries: true },
    { column: reportColumn(rtx3060Ti, `${name} x`), name: `report (${rtx3060Ti}), ${name}`, isSameInSeries: true },
  ]),
];
/** The same with transfers: a line for halogrid, and one for each kernel of the report here and there. */
export const wholeLines = [
  { column: 'whole_speedup_over_cpu', name: 'halogrid, whole run' },
  ...cudaNames.flatMap((name) => [
    { column: `cuda_${name}_whole_speedup_over_cpu`, name: `CUDA ${name} here, whole run` },
    { column: reportColumn(rtx3060Ti, `${name} x`), name: `report (${rtx3060Ti}), ${name}` },
  ]),
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
