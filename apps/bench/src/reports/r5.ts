import { reportColumn } from './evaluate-table.ts';
import { blockFigures, bySide, rtx3060Ti, speedUpsBySize } from './r5-figures.ts';
import {
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
const reportLine = {
  column: reportColumn(rtx3060Ti, 'shared x'),
  name: `report (${rtx3060Ti}), shared`,
};

/** R5: convolution into f32 by kernel, size of the image, side of the kernel and block. */
export function r5({ isQuick, strategies }: Scale): Report {
  const imageSides = isQuick ? [64, 128] : [512, 1024, 1920, 2560, 3840, 4096];
  const kernels = isQuick ? ['box-3'] : Object.keys(speedUpsBySize);
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
              cuda: { name: cudaNames, kernel, channels, width: imageSide },
              reported: reported(channels, speedUpsBySize[kernel]?.[imageSide]),
            }),
          ),
        ),
      ),
    ),
    derived: speedUps,
    charts: [chart('sizes', 'Convolution over one CPU thread')],
  };

  const sides: ReportTable = {
    name: 'kernel-sides',
    title: `Tables 3 and 4 · by the side of the kernel, images of ${side}x${side}`,
    rows: (isQuick ? ['box'] : ['gaussian', 'box']).flatMap((kind) =>
      channelCounts.flatMap((channels) =>
        kernelSides.flatMap((kernelSide) =>
          firstOfEachName(ours(`${kind}-${kernelSide}`, channels)).map(
            (strategy): ReportRow => ({
              labels: { kernel: kind, channels, side: kernelSide, strategy: strategyName(strategy) },
              times: times(`${kind}-${kernelSide}`, side, channels, strategy),
              cuda: { name: cudaNames, kernel: `${kind}-${kernelSide}`, channels, width: side },
              reported: isQuick ? undefined : reported(channels, bySide[kind]?.[kernelSide]),
            }),
          ),
        ),
      ),
    ),
    derived: speedUps,
    charts: [
      chart('kernel-sides', `Convolution of ${side}x${side} over one CPU thread`, {
        xTitle: 'Side of the kernel',
      }),
    ],
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
    derived: [speedUp('kernel', 'cpu'), withoutTime('kernel', speedUp('cuda', 'cpu'))],
    charts: kernels.map((kernel) => ({
      ...chart(`blocks-${kernel}`, `${kernel}, ${side}x${side}, over one CPU thread`, {
        x: 'block',
        xTitle: 'Block (workgroup), lanes',
        xScale: 'category',
      }),
      series: ['strategy'],
      values: [
        { column: 'kernel_speedup_over_cpu', name: '' },
        { column: 'cuda_speedup_over_cpu', name: 'here' },
        { column: reportColumn(rtx3060Ti, 'x'), name: `report (${rtx3060Ti})` },
      ],
      only: { kernel },
    })),
  };

  const call = { channels: channelCounts.join(), measure: 'kernel' };
  const tableKernels = (isQuick ? ['box'] : ['gaussian', 'box']).flatMap((kind) =>
    kernelSides.map((kernelSide) => `${kind}-${kernelSide}`),
  );
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

/** Speed-ups by kernel, of its default strategy. */
function chart(name: string, title: string, x?: Partial<LineChartPlan>): LineChartPlan {
  const values = [{ column: 'kernel_speedup_over_cpu', name: '' }, reportLine];
  return {
    ...speedUpsBySide({ name, title: `${title}, RGB`, series: ['kernel'], values }),
    ...x,
    only: { channels: 3 },
  };
}
