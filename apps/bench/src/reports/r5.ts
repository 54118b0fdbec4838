import type { CudaQuery } from '../cuda/cuda-programs.ts';
import { reportColumn } from './evaluate-table.ts';
import { blockFigures, bySide, rtx3060Ti, speedUpsBySize } from './r5-figures.ts';
import {
  type Derived,
  type LineChartPlan,
  type Probe,
  type Report,
  type ReportRow,
  type ReportTable,
  speedUp,
  speedUpsBySide,
  type Timer,
  withoutTime,
} from './report.ts';
import { firstOfEachName, laneShape, type Scale, type Strategy, square, strategyName } from './scale.ts';

const blocks = ['4x4', '8x8', '16x8', '16x16', '32x8', '32x16', '32x32'];
const cudaNames = ['global', 'shared'];
const speedUps = [
  speedUp('kernel', 'cpu'),
  speedUp('kernel', 'threads'),
  speedUp('kernel', 'twin'),
  speedUp('whole', 'cpu'),
];
/** Lines of every chart by size: what is shown for each kernel. */
const lines = [
  { column: 'kernel_speedup_over_cpu', name: '' },
  ...cudaNames.flatMap((name) => [
    { column: `cuda_${name}_speedup_over_cpu`, name: `CUDA ${name} here` },
    { column: reportColumn(rtx3060Ti, `${name} x`), name: `report (${rtx3060Ti}), ${name}` },
  ]),
];
const cudaSpeedUps = cudaNames.map((name) => speedUp(`cuda_${name}`, 'cpu'));

/** R5: convolution into f32 by kernel, size of the image, side of the kernel and block. */
export function r5({ isQuick, strategies }: Scale): Report {
  const imageSides = isQuick ? [64, 128] : [512, 1024, 1920, 2560, 3840, 4096];
  const kernels = isQuick ? ['box-3'] : Object.keys(speedUpsBySize);
  const kinds = isQuick ? ['box'] : ['gaussian', 'box'];
  const kernelSides = isQuick ? [3] : [3, 5, 7, 9, 11, 15, 21];
  const side = isQuick ? 128 : 1920;
  const channelCounts = isQuick ? [3] : [1, 3];

  const ours = (kernel: string, channels: number) => strategies(convolution(kernel, channels), 'map');

  const probe = (timer: Timer, kernel: string, imageSide: number, channels: number, strategy?: Strategy): Probe => ({
    timer,
    operations: [convolution(kernel, channels)],
    output: 'map',
    size: square(imageSide),
    strategy,
  });
  const times = (kernel: string, imageSide: number, channels: number, strategy: Strategy) => ({
    kernel: probe('kernel', kernel, imageSide, channels, strategy),
    whole: probe('whole', kernel, imageSide, channels),
    cpu: probe('cpu', kernel, imageSide, channels),
    threads: probe('threads', kernel, imageSide, channels),
    twin: probe('twin', kernel, imageSide, channels),
  });

  const sizes: ReportTable = {
    name: 'sizes',
    title: 'Tables 1 and 2 · speed-up by kernel and size of the image',
    rows: kernels.flatMap((kernel) =>
      channelCounts.flatMap((channels) =>
        imageSides.flatMap((imageSide) =>
          firstOfEachName(ours(kernel, channels)).map(
            (strategy): ReportRow => ({
              labels: { kernel, channels, side: imageSide, strategy: strategyName(strategy) },
              times: times(kernel, imageSide, channels, strategy),
              ...cuda({ kernel, channels, width: imageSide }),
              reported: reported(channels, speedUpsBySize[kernel]?.[imageSide]),
            }),
          ),
        ),
      ),
    ),
    derived: [...speedUps, ...cudaSpeedUps],
    charts: kernels.map((kernel) =>
      chart(`sizes-${kernel}`, `${kernel} by size of the image (figures 1 and 2)`, { only: { kernel, channels: 3 } }),
    ),
  };

  const sides: ReportTable = {
    name: 'kernel-sides',
    title: `Tables 3 and 4 · by the side of the kernel, images of ${side}x${side}`,
    rows: kinds.flatMap((kind) =>
      channelCounts.flatMap((channels) =>
        kernelSides.flatMap((kernelSide) =>
          firstOfEachName(ours(`${kind}-${kernelSide}`, channels)).map(
            (strategy): ReportRow => ({
              labels: { kernel: kind, channels, side: kernelSide, strategy: strategyName(strategy) },
              times: times(`${kind}-${kernelSide}`, side, channels, strategy),
              ...cuda({ kernel: `${kind}-${kernelSide}`, channels, width: side }),
              reported: isQuick ? undefined : reported(channels, bySide[kind]?.[kernelSide]),
            }),
          ),
        ),
      ),
    ),
    derived: [...speedUps, ...cudaSpeedUps],
    charts: kinds.map((kernel) =>
      chart(`kernel-sides-${kernel}`, `${kernel} of ${side}x${side} by side of the kernel (figure 3)`, {
        xTitle: 'Side of the kernel, px',
        only: { kernel, channels: 3 },
      }),
    ),
  };

  const shapes: ReportTable = {
    name: 'blocks',
    title: `Figure 4 and table 5 · by the shape of a block (of a workgroup), RGB images of ${side}x${side}`,
    rows: kernels.flatMap((kernel): ReportRow[] => [
      ...ours(kernel, 3).map((strategy) => ({
        labels: { kernel, strategy: `halogrid ${strategyName(strategy)}`, block: laneShape(strategy) },
        times: {
          kernel: probe('kernel', kernel, side, 3, strategy),
          cpu: probe('cpu', kernel, side, 3),
        },
        cuda: { name: cudaNames, kernel, channels: 3, width: side },
      })),
      ...cudaNames.flatMap((name) =>
        blocks.map((block) => ({
          labels: { kernel, strategy: `CUDA ${name}`, block },
          times: { cpu: probe('cpu', kernel, side, 3) },
          cuda: { name, kernel, channels: 3, width: side, block },
          reported: isQuick ? undefined : reported(3, blockFigures[kernel]?.[`${name} ${block}`]),
        })),
      ),
    ]),
    derived: [speedUp('kernel', 'cpu'), withoutTime('kernel', speedUp('cuda', 'cpu')), ...peaks],
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
          { column: reportColumn(rtx3060Ti, 'x'), name: `report (${rtx3060Ti}), tuned` },
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
            { column: reportColumn(rtx3060Ti, 'x'), name: `report (${rtx3060Ti})` },
          ],
        }),
      ),
    ],
  };

  const call = { channels: channelCounts.join(), measure: 'kernel' };
  const tableKernels = kinds.flatMap((kind) => kernelSides.map((kernelSide) => `${kind}-${kernelSide}`));
  return {
    id: 'r5',
    title: 'R5 · Kernel Image Processing with CUDA Optimization',
    method: isQuick ? { repetitions: 30, images: 1 } : { repetitions: 30, images: 5 },
    tables: [sizes, sides, shapes],
    cuda: [
      { program: 'convolution', arguments: { ...call, kernels: kernels.join(), sizes: imageSides.join() } },
      { program: 'convolution', arguments: { ...call, kernels: tableKernels.join(), sizes: side } },
      {
        program: 'convolution',
        arguments: { ...call, channels: 3, kernels: kernels.join(), sizes: side, blocks: blocks.join() },
      },
    ],
  };
}

const convolution = (kernel: string, channels: number) => ({
  kernel: 'conv',
  parameters: { kernel, channels: channels === 3 ? 'rgb' : 'gray' },
});

/** The report's images have three channels. */
const reported = (channels: number, figures: Record<string, number> | undefined) =>
  channels === 3 && figures ? { [rtx3060Ti]: figures } : undefined;

const cuda = (query: CudaQuery): Pick<ReportRow, 'cuda' | 'otherCuda'> => ({
  cuda: { ...query, name: cudaNames },
  otherCuda: Object.fromEntries(cudaNames.map((name) => [name, { ...query, name }])),
});

/** Speed-ups of RGB images, a line a strategy. */
function chart(name: string, title: string, more: Partial<LineChartPlan>): LineChartPlan {
  return {
    ...speedUpsBySide({ name, title: `${title}, RGB`, series: ['strategy'], values: lines }),
    yTitle: 'Speed-up over one CPU thread',
    ...more,
  };
}

/** Table 5: global and shared memory in blocks of 16x16, and the best of all, here and in CUDA. */
const peaks: Derived[] = [
  peak('halogrid_global', 'kernel', (strategy, block) => strategy.includes('global') && block === '16x16'),
  peak('halogrid_shared', 'kernel', (strategy, block) => strategy.includes('workgroup') && block === '16x16'),
  peak('halogrid_tuned', 'kernel', (strategy) => strategy.startsWith('halogrid')),
  peak('cuda_global', 'cuda', (strategy, block) => strategy === 'CUDA global' && block === '16x16'),
  peak('cuda_shared', 'cuda', (strategy, block) => strategy === 'CUDA shared' && block === '16x16'),
  peak('cuda_tuned', 'cuda', (strategy) => strategy.startsWith('CUDA')),
];

/** Speed-ups of the rows that count, and of no others. */
function peak(name: string, column: string, counts: (strategy: string, block: string) => boolean): Derived {
  const over = speedUp(column, 'cpu');
  return {
    name: `${name}_x`,
    title: name.replace('cuda', 'CUDA').replace('_', '\n'),
    of: (meanMs, row) => {
      const { strategy, block } = row.labels;
      return counts(String(strategy), String(block)) ? over.of(meanMs, row) : undefined;
    },
  };
}
