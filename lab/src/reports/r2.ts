import { laneShape } from '@halogrid/bench/strategy-shapes';
import { contentsTable } from './contents-table.ts';
import { overPlainLoop, plainLoop, speedUpsOfCuda, withPlainLoop } from './plain-loop.ts';
import {
  type LineChartPlan,
  type Report,
  type ReportRow,
  type ReportTable,
  speedUp,
  speedUpsBySide,
  type TimedSpan,
  type TimedWork,
  timesBySide,
} from './report.ts';
import { type ReportScale, squareSize, strategyName } from './scale.ts';

const geforce950M = 'GeForce 950M';
const kernels = ['global-atomics', 'private-histogram'];
/** Charts by size draw the first shape of a strategy, so the report's fastest one is first. */
const blocks = [32, 16, 8, 4];
const blockNames = blocks.map((side) => `${side}x${side}`);
const lbp = { kernel: 'lbp', parameters: {}, border: 'zero' };

const loopLine = {
  column: `${plainLoop}_speedup_over_cpu`,
  name: 'the report’s loop, one thread',
  isSameInSeries: true,
};

/** R2: the histogram of LBP codes with zeros around the image, by size and block. */
export function r2({ isQuick, strategies }: ReportScale): Report {
  const ours = strategies(lbp, 'histogram');
  const sides = isQuick ? [64, 256] : [256, 512, 1024, 2048, 4096, 8192];
  const contentSide = isQuick ? 256 : 1024;
  const probe = (timer: TimedSpan, side: number, more?: Partial<TimedWork>): TimedWork => ({
    timer,
    operations: [lbp],
    output: 'histogram',
    size: squareSize(side),
    ...more,
  });
  const baselines = (side: number) => ({
    cpu: probe('cpu', side),
    threads: probe('threads', side),
    twin: probe('twin', side),
  });

  /** A curve for each block, like the report's figures. */
  const overLoop = (name: string, title: string, level: { name: string; y: number }): LineChartPlan => ({
    ...speedUpsBySide({
      name,
      title,
      series: ['strategy', 'block'],
      values: [{ column: `cuda_speedup_over_${plainLoop}`, name: '' }],
      levels: isQuick ? [] : [level],
    }),
    isOfCuda: true,
  });

  const histogram: ReportTable = {
    name: 'histogram',
    title: 'Figures 2 and 3 · LBP and histogram, kernels alone',
    note: 'The report (GeForce 950M, i7-7700HQ) gives plots: over 130x at best; more with private histograms and larger blocks.',
    rows: sides.flatMap((side): ReportRow[] => [
      ...ours.map((strategy) => ({
        labels: { side, strategy: `halogrid ${strategyName(strategy)}`, block: laneShape(strategy) },
        times: { kernel: probe('kernel', side, { strategy }), ...baselines(side) },
        cuda: { name: kernels, width: side },
        otherCuda: withPlainLoop({ width: side }),
      })),
      ...kernels.flatMap((name) =>
        blockNames.map((block) => ({
          labels: { side, strategy: `CUDA ${name}`, block },
          times: { cpu: probe('cpu', side) },
          cuda: { name, width: side, block },
          otherCuda: withPlainLoop({ width: side }),
        })),
      ),
    ]),
    derived: [
      speedUp('kernel', 'cpu'),
      speedUp('kernel', 'threads'),
      speedUp('kernel', 'twin'),
      speedUp(plainLoop, 'cpu'),
      ...overPlainLoop('kernel'),
      ...speedUpsOfCuda('kernel'),
    ],
    charts: [
      speedUpsBySide({
        name: 'speed-up',
        title: 'LBP histogram: strategies over one CPU thread (figure 2)',
        series: ['strategy'],
        values: [
          { column: 'kernel_speedup_over_cpu', name: '' },
          { column: 'cuda_speedup_over_cpu', name: '' },
          loopLine,
        ],
      }),
      overLoop('loop-speed-up', 'LBP histogram in CUDA over the report’s loop (figure 2)', {
        name: `report (${geforce950M}), its best`,
        y: 130,
      }),
      {
        kind: 'heat',
        name: 'heat-map',
        title: 'LBP histogram: kernel over one CPU thread (figure 3)',
        x: 'side',
        xTitle: 'Side of the image, px',
        y: ['strategy', 'block'],
        values: ['kernel_speedup_over_cpu', 'cuda_speedup_over_cpu'],
      },
    ],
  };

  const whole: ReportTable = {
    name: 'whole',
    title: 'Figure 4 · the whole run, with transfers, by strategy and block',
    note: 'The report (GeForce 950M) gives plots: above 5x beyond 4096x4096.',
    rows: sides.flatMap((side): ReportRow[] => [
      ...ours.map((strategy) => ({
        labels: { side, strategy: `halogrid ${strategyName(strategy)}`, block: laneShape(strategy) },
        times: { whole: probe('whole', side, { strategy }), ...baselines(side) },
        otherCuda: withPlainLoop({ width: side }),
      })),
      ...kernels.flatMap((name) =>
        blockNames.map((block) => ({
          labels: { side, strategy: `CUDA ${name}`, block },
          times: { cpu: probe('cpu', side) },
          cuda: { name: `${name}-whole`, width: side, block },
          otherCuda: withPlainLoop({ width: side }),
        })),
      ),
    ]),
    derived: [
      speedUp('whole', 'cpu'),
      speedUp('whole', 'threads'),
      speedUp('whole', 'twin'),
      speedUp(plainLoop, 'cpu'),
      ...overPlainLoop('whole'),
      ...speedUpsOfCuda('whole'),
    ],
    charts: [
      speedUpsBySide({
        name: 'whole',
        title: 'LBP histogram with transfers over one CPU thread (figure 4)',
        series: ['strategy'],
        values: [
          { column: 'whole_speedup_over_cpu', name: '' },
          { column: 'cuda_speedup_over_cpu', name: '' },
          loopLine,
        ],
      }),
      overLoop('loop-whole', 'LBP histogram in CUDA with transfers over the report’s loop (figure 4)', {
        name: `report (${geforce950M}), beyond 4096x4096`,
        y: 5,
      }),
      {
        kind: 'heat',
        name: 'whole-heat-map',
        title: 'LBP histogram with transfers over one CPU thread (figure 4)',
        x: 'side',
        xTitle: 'Side of the image, px',
        y: ['strategy', 'block'],
        values: ['whole_speedup_over_cpu', 'cuda_speedup_over_cpu'],
      },
    ],
  };

  const padding: ReportTable = {
    name: 'padding',
    title: 'Figure 1 · padding',
    note: 'halogrid makes no padded copy: zeros outside are a rule of the kernel. Beside it is the kernel that leaves the ring out.',
    rows: sides.flatMap((side): ReportRow[] => [
      {
        labels: { side, what: 'halogrid, LBP and histogram with it' },
        times: {
          zero: probe('kernel', side, { strategy: ours[0] }),
          interior: probe('kernel', side, { operations: [{ ...lbp, border: 'interior' }], strategy: ours[0] }),
        },
      },
      ...blockNames.map((block) => ({
        labels: { side, what: 'CUDA pad alone', block },
        times: {},
        cuda: { name: 'pad', width: side, block },
        otherCuda: { one_thread: { name: 'cpu-pad', width: side } },
      })),
    ]),
    derived: [speedUp('cuda', 'cuda_one_thread')],
    charts: [
      timesBySide({
        name: 'padding',
        title: 'Padding alone, and LBP that needs none (figure 1)',
        series: ['what', 'block'],
        values: [
          { column: 'zero_median_ms', name: '' },
          { column: 'cuda_median_ms', name: '' },
        ],
      }),
      {
        ...speedUpsBySide({
          name: 'padding-speed-up',
          title: 'Padding in CUDA over one CPU thread (figure 1)',
          series: ['block'],
          values: [{ column: 'cuda_speedup_over_cuda_one_thread', name: 'block' }],
        }),
        isOfCuda: true,
      },
    ],
  };

  const byContent = contentsTable(
    {
      title: `LBP histograms of ${contentSide}x${contentSide} by what the image shows`,
      note: 'The report has random images, as the other tables here. Atomics of a photograph meet in fewer bins.',
    },
    [
      { labels: { what: 'halogrid' }, times: { kernel: probe('kernel', contentSide) } },
      ...kernels.map((name) => ({
        labels: { what: `CUDA ${name}` },
        times: {},
        cuda: { name, width: contentSide, block: blockNames[0]! },
      })),
    ],
  );

  return {
    id: 'r2',
    title: 'R2 · Sequential vs CUDA LBP Histogram Computation',
    method: { repetitions: 100, images: 1 },
    tables: [histogram, whole, padding, byContent],
    cuda: [
      {
        program: 'lbp-histogram',
        arguments: {
          sizes: sides.join(),
          blocks: blocks.join(),
          repetitions: isQuick ? 5 : 100,
          'cpu-repetitions': 5,
        },
      },
      {
        table: byContent.name,
        program: 'lbp-histogram',
        arguments: { sizes: contentSide, blocks: blocks[0]!, measure: 'kernel' },
        content: 'photograph',
      },
    ],
  };
}
