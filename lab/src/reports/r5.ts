import { firstOfEachName, laneShape } from '@halogrid/bench/strategy-shapes';
import type { CudaQuery } from '../cuda/cuda-programs.ts';
import { overPlainLoop, plainLoop, speedUpsOfCuda, withPlainLoop } from './plain-loop.ts';
import { chart, loopLines, overTheLoop, reportedIn, wholeLines, wholeTimes } from './r5-charts.ts';
import { bySide, cudaNames, peakFiguresOf, rtx3060Ti, speedUpsBySize } from './r5-figures.ts';
import { peaks } from './r5-peaks.ts';
import {
  type LineChartPlan,
  type Report,
  type ReportRow,
  type ReportTable,
  speedUp,
  type TimedSpan,
  type TimedWork,
} from './report.ts';
import { type ReportScale, type Strategy, squareSize, strategyName } from './scale.ts';

const blocks = ['4x4', '8x8', '16x8', '16x16', '32x8', '32x16', '32x32'];
const speedUps = [speedUp('kernel', 'cpu'), speedUp('whole', 'cpu')];
const cudaSpeedUps = [
  ...cudaNames.flatMap((name) => [speedUp(`cuda_${name}`, 'cpu'), speedUp(`cuda_${name}_whole`, 'cpu')]),
  speedUp(plainLoop, 'cpu'),
];
const loopSpeedUps = overPlainLoop(
  'kernel',
  'whole',
  'cpu',
  ...cudaNames.flatMap((name) => [`cuda_${name}`, `cuda_${name}_whole`]),
);
/** Columns of table 5. */
const peakNames = ['global', 'shared', 'tuned'];
/** Launches in a sample of the CUDA programs. */
const launches = 20;

/** R5: convolution into f32 by kernel, size of the image, side of the kernel and block. */
export function r5({ isQuick, strategies }: ReportScale): Report {
  const imageSides = isQuick ? [64, 128] : [512, 1024, 1920, 2560, 3840, 4096];
  const kernels = isQuick ? ['box-3'] : Object.keys(speedUpsBySize);
  const kinds = isQuick ? ['box'] : ['gaussian', 'box'];
  const kernelSides = isQuick ? [3] : [3, 5, 7, 9, 11, 15, 21];
  const side = isQuick ? 128 : 1920;

  const ours = (kernel: string) => strategies(convolution(kernel), 'map');

  const probe = (timer: TimedSpan, kernel: string, imageSide: number, strategy?: Strategy): TimedWork => ({
    timer,
    operations: [convolution(kernel)],
    output: 'map',
    size: squareSize(imageSide),
    strategy,
  });
  const times = (kernel: string, imageSide: number, strategy: Strategy) => ({
    kernel: probe('kernel', kernel, imageSide, strategy),
    whole: probe('whole', kernel, imageSide),
    cpu: probe('cpu', kernel, imageSide),
  });

  const sizes: ReportTable = {
    name: 'sizes',
    title: 'Tables 1 and 2 · speed-up by kernel and size of the image',
    note,
    rows: kernels.flatMap((kernel) =>
      imageSides.flatMap((imageSide) =>
        firstOfEachName(ours(kernel)).map(
          (strategy): ReportRow => ({
            labels: { kernel, side: imageSide, strategy: `halogrid ${strategyName(strategy)}` },
            times: { ...times(kernel, imageSide, strategy), threads: probe('threads', kernel, imageSide) },
            ...cuda(kernel, imageSide),
            reported: reported(speedUpsBySize[kernel]?.[imageSide]),
          }),
        ),
      ),
    ),
    derived: [...speedUps, speedUp('kernel', 'threads'), ...cudaSpeedUps, ...loopSpeedUps],
    charts: [
      ...kernels.map((kernel) =>
        chart(`sizes-${kernel}`, `${kernel} by size of the image (figures 1 and 2)`, { only: { kernel } }),
      ),
      ...kernels.map((kernel) => ({
        ...chart(`whole-${kernel}`, `${kernel} with transfers (figures 1 and 2)`, { only: { kernel } }),
        yTitle: overTheLoop,
        series: [],
        values: wholeLines,
        isOfCuda: true,
      })),
    ],
  };

  const sides: ReportTable = {
    name: 'kernel-sides',
    title: `Tables 3 and 4 · by the side of the kernel, images of ${side}x${side}`,
    note,
    rows: kinds.flatMap((kind) =>
      kernelSides.flatMap((kernelSide) =>
        firstOfEachName(ours(`${kind}-${kernelSide}`)).map(
          (strategy): ReportRow => ({
            labels: { kernel: kind, side: kernelSide, strategy: `halogrid ${strategyName(strategy)}` },
            times: times(`${kind}-${kernelSide}`, side, strategy),
            ...cuda(`${kind}-${kernelSide}`, side),
            reported: isQuick ? undefined : reported(bySide[kind]?.[kernelSide]),
          }),
        ),
      ),
    ),
    derived: [...speedUps, ...cudaSpeedUps, ...loopSpeedUps],
    charts: kinds.flatMap((kernel) => {
      const common = { xTitle: 'Side of the kernel, px', only: { kernel } };
      return [
        chart(`kernel-sides-${kernel}`, `${kernel} of ${side}x${side} by side of the kernel`, common),
        {
          ...chart(
            `kernel-sides-${kernel}-loop`,
            `${kernel} of ${side}x${side} by side of the kernel (figure 3)`,
            common,
          ),
          yTitle: overTheLoop,
          values: loopLines,
          isOfCuda: true,
        },
        {
          ...chart(`kernel-sides-${kernel}-whole`, `${kernel} of ${side}x${side} with transfers (tables 3, 4)`, common),
          yTitle: 'Milliseconds an image',
          series: [],
          values: wholeTimes,
        },
      ];
    }),
  };

  const shapes: ReportTable = {
    name: 'blocks',
    title: `Figure 4 and table 5 · by the shape of a block (of a workgroup), RGB images of ${side}x${side}`,
    rows: kernels.flatMap((kernel): ReportRow[] => [
      ...ours(kernel).map((strategy) => ({
        labels: { kernel, strategy: `halogrid ${strategyName(strategy)}`, block: laneShape(strategy) },
        times: { kernel: probe('kernel', kernel, side, strategy), cpu: probe('cpu', kernel, side) },
        cuda: { name: cudaNames, kernel, width: side },
        otherCuda: withPlainLoop({ kernel, width: side }),
      })),
      ...cudaNames.flatMap((name) =>
        blocks.map((block) => ({
          labels: { kernel, strategy: `CUDA ${name}`, block },
          times: { cpu: probe('cpu', kernel, side) },
          cuda: { name, kernel, width: side, block },
          otherCuda: withPlainLoop({ kernel, width: side }),
          reported: isQuick ? undefined : reported(peakFiguresOf(kernel, name, block)),
        })),
      ),
    ]),
    derived: [speedUp('kernel', 'cpu'), ...overPlainLoop('kernel'), ...speedUpsOfCuda('kernel'), ...peaks],
    charts: [
      {
        kind: 'bars',
        name: 'peaks',
        title: `Global, shared (16x16) and tuned, ${side}x${side} RGB (table 5)`,
        group: 'kernel',
        xTitle: 'Speed-up over one CPU thread, logarithmic',
        xScale: 'log10',
        values: [
          ...peaks.map(({ name, title }) => ({ column: name, name: title.replaceAll('\n', ' ') })),
          ...peakNames.map(reportedIn),
        ],
        best: 'most',
      },
      ...kernels.map(
        (kernel): LineChartPlan => ({
          ...chart(`blocks-${kernel}`, `${kernel}, ${side}x${side}, by block (figure 4)`, {
            x: 'block',
            xTitle: 'Block (workgroup), lanes',
            xScale: 'category',
            only: { kernel },
          }),
          values: [
            { column: 'kernel_speedup_over_cpu', name: '' },
            { column: 'cuda_speedup_over_cpu', name: 'here' },
            ...peakNames.map(reportedIn),
          ],
        }),
      ),
    ],
  };

  const call = { channels: 3, measure: 'kernel,whole', launches, 'cpu-repetitions': 2 };
  const tableKernels = kinds.flatMap((kind) => kernelSides.map((kernelSide) => `${kind}-${kernelSide}`));
  return {
    id: 'r5',
    title: 'R5 · Kernel Image Processing with CUDA Optimization',
    method: isQuick ? { repetitions: 30, images: 1 } : { repetitions: 30, images: 5 },
    tables: [sizes, sides, shapes],
    cuda: [
      {
        table: sizes.name,
        program: 'convolution',
        arguments: { ...call, kernels: kernels.join(), sizes: imageSides.join() },
      },
      {
        table: sides.name,
        program: 'convolution',
        // The loop takes seconds with the largest kernels.
        arguments: { ...call, kernels: tableKernels.join(), sizes: side, 'cpu-repetitions': 1 },
      },
      {
        table: shapes.name,
        program: 'convolution',
        arguments: {
          ...call,
          measure: 'kernel',
          kernels: kernels.join(),
          sizes: side,
          blocks: blocks.join(),
        },
      },
    ],
  };
}

const note =
  'The report’s milliseconds hardly grow with the kernel: transfers must be part of them, as of the whole runs here.';

/** The report's images have three channels. */
const convolution = (kernel: string) => ({ kernel: 'conv', parameters: { kernel, channels: 'rgb' } });

const reported = (figures: Record<string, number> | undefined) => figures && { [rtx3060Ti]: figures };

function cuda(kernel: string, width: number): Pick<ReportRow, 'cuda' | 'otherCuda'> {
  const query: CudaQuery = { kernel, width, block: '16x16' };
  const others = cudaNames.flatMap((name) => [
    [name, { ...query, name }],
    [`${name}_whole`, { ...query, name: `${name}-whole` }],
  ]);
  return {
    cuda: { ...query, name: cudaNames },
    otherCuda: { ...Object.fromEntries(others), ...withPlainLoop({ kernel, width }) },
  };
}
