import { contentsTable } from './contents-table.ts';
import { reportColumn } from './evaluate-table.ts';
import { overPlainLoop, plainLoop, withPlainLoop } from './plain-loop.ts';
import {
  type Derived,
  type LineChartPlan,
  type Report,
  type ReportTable,
  speedUp,
  speedUpsBySide,
  type TimedSpan,
  type TimedWork,
  timesBySide,
} from './report.ts';
import { type ReportScale, squareSize } from './scale.ts';

/** Tables 1 to 3 of the report, ms, and its percentages of 3.5. It gives the CPU's first time as '~0'. */
const figures: Record<number, Record<string, number>> = {
  128: { 'GPU ms': 0.169, 'tiled GPU ms': 0.097, 'tiled saves, %': 42.6 },
  512: { 'CPU ms': 6, 'GPU ms': 0.296, 'tiled GPU ms': 0.18, 'GPU saves, %': 95.07, 'tiled saves, %': 39.2 },
  1024: { 'CPU ms': 22, 'GPU ms': 0.648, 'tiled GPU ms': 0.357, 'GPU saves, %': 97.05, 'tiled saves, %': 44.9 },
};

/** R3: LBP map and histogram of small squares, bits in the other order. */
export function r3({ isQuick }: ReportScale): Report {
  const sides = isQuick ? [128] : [128, 512, 1024];
  const contentSide = isQuick ? 128 : 1024;
  const cudaNames = ['simple', 'tiled'];
  const probe = (timer: TimedSpan, side: number): TimedWork => ({
    timer,
    operations: [{ kernel: 'lbp', parameters: { convention: 'nw-cw-lsb' }, border: 'zero' }],
    output: 'both',
    size: squareSize(side),
  });
  const sizes: ReportTable = {
    name: 'sizes',
    title: 'Tables 1 to 3 · LBP map and histogram',
    note: 'The report’s CPU loop leaves the outermost ring out, and takes ~0 ms for 128x128. Here everything counts it, with zeros outside.',
    rows: sides.map((side) => ({
      labels: { side },
      times: {
        kernel: probe('kernel', side),
        whole: probe('whole', side),
        cpu: probe('cpu', side),
        threads: probe('threads', side),
        twin: probe('twin', side),
      },
      cuda: { name: 'tiled', width: side },
      otherCuda: {
        simple: { name: 'simple', width: side },
        simple_whole: { name: 'simple-whole', width: side },
        tiled_whole: { name: 'tiled-whole', width: side },
        ...withPlainLoop({ width: side }),
      },
      reported: { 'RTX 3080': figures[side]! },
    })),
    derived: [
      speedUp('kernel', 'cpu'),
      speedUp('kernel', 'twin'),
      speedUp('whole', 'twin'),
      ...overPlainLoop('kernel', 'whole', 'cpu', 'cuda_simple', 'cuda'),
      timeSaved('kernel_percent', 'kernel saves\nof cpu\n%', 'kernel', 'cpu'),
      timeSaved('whole_percent', 'whole run\nsaves of cpu\n%', 'whole', 'cpu'),
      timeSaved('cuda_simple_percent', 'CUDA simple\nsaves of the\nloop, %', 'cuda_simple', plainLoop),
      timeSaved('cuda_simple_whole_percent', 'with transfers\nof the\nloop, %', 'cuda_simple_whole', plainLoop),
      timeSaved('cuda_tiled_percent', 'CUDA tiled\nsaves of\nsimple, %', 'cuda', 'cuda_simple'),
    ],
    charts: [
      speedUpsBySide({
        name: 'speed-up',
        title: 'LBP map and histogram of small squares, nw-cw-lsb',
        series: [],
        values: [
          { column: 'kernel_speedup_over_cpu', name: 'kernel over cpu' },
          { column: 'kernel_speedup_over_twin', name: 'kernel over twin' },
          { column: 'whole_speedup_over_twin', name: 'whole run over twin' },
        ],
      }),
      timesBesideLoops('times', 'LBP map and histogram, kernels and loops (tables 1 to 3)', [
        { column: 'kernel_median_ms', name: 'halogrid’s kernel' },
        { column: 'cuda_simple_median_ms', name: 'CUDA simple here' },
        { column: 'cuda_median_ms', name: 'CUDA tiled here' },
      ]),
      timesBesideLoops('whole-times', 'LBP map and histogram, whole runs and loops (tables 1 to 3)', [
        { column: 'whole_median_ms', name: 'halogrid, whole run' },
        { column: 'cuda_simple_whole_median_ms', name: 'CUDA simple here, whole run' },
        { column: 'cuda_tiled_whole_median_ms', name: 'CUDA tiled here, whole run' },
      ]),
    ],
  };
  const byContent = contentsTable(
    { title: `LBP map and histogram of ${contentSide}x${contentSide} by what the image shows` },
    [
      { labels: { what: 'halogrid' }, times: { kernel: probe('kernel', contentSide) } },
      ...cudaNames.map((name) => ({ labels: { what: `CUDA ${name}` }, times: {}, cuda: { name, width: contentSide } })),
    ],
  );
  return {
    id: 'r3',
    title: 'R3 · Local Binary Pattern, Kuwait University',
    // The report does not say how often. This is the default of the CUDA programs.
    method: { repetitions: 30, images: 1 },
    tables: [sizes, byContent],
    cuda: [
      { program: 'lbp-tiled', arguments: { sizes: sides.join(), 'cpu-repetitions': 10 } },
      {
        table: byContent.name,
        program: 'lbp-tiled',
        arguments: { sizes: contentSide, measure: 'kernel' },
        content: 'photograph',
      },
    ],
  };
}

/** Times beside both loops and beside the report's figures. The report does not say whether they include transfers. */
const timesBesideLoops = (name: string, title: string, values: LineChartPlan['values']): LineChartPlan =>
  timesBySide({
    name,
    title,
    series: [],
    values: [
      ...values,
      { column: 'cpu_median_ms', name: 'halogrid’s thread' },
      { column: `${plainLoop}_median_ms`, name: 'the report’s loop here' },
      { column: reportColumn('RTX 3080', 'CPU ms'), name: 'report, CPU' },
      { column: reportColumn('RTX 3080', 'GPU ms'), name: 'report (RTX 3080), simple' },
      { column: reportColumn('RTX 3080', 'tiled GPU ms'), name: 'report (RTX 3080), tiled' },
    ],
  });

/** The report's percentage: the part of the slower time that the faster one saves. */
function timeSaved(name: string, title: string, fast: string, slow: string): Derived {
  return {
    name,
    title,
    of(medianMs) {
      const [fastMs, slowMs] = [medianMs(fast), medianMs(slow)];
      return fastMs === undefined || slowMs === undefined ? undefined : (100 * (slowMs - fastMs)) / slowMs;
    },
  };
}
