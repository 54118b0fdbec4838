import { firstOfEachName, laneShape } from '@halogrid/bench/strategy-shapes';
import { reportColumn } from './evaluate-table.ts';
import {
  type Derived,
  type Report,
  type ReportRow,
  type ReportTable,
  speedUp,
  type TimedSpan,
  type TimedWork,
  withoutTime,
} from './report.ts';
import { type ReportScale, type Strategy, sizeName, strategyName } from './scale.ts';

const gtx1050 = 'GTX 1050';
const lbp = { kernel: 'lbp', parameters: {} };
const kernels = ['global', 'read-only', 'shared'];

/** Tables 2 and 3 of the report: milliseconds and GB/s. */
const measuredBlocks: [strategy: string, block: string, ms: number, gbPerSecond: number][] = [
  ['global', '32x8', 1.585, 17.24],
  ['global', '32x4', 1.587, 17.22],
  ['global', '32x16', 1.676, 16.3],
  ['global', '16x16', 2.266, 12.05],
  ['global', '4x32', 7.908, 3.45],
  ['read-only', '32x4', 1.595, 17.13],
  ['shared', '32x8', 2.93, 9.32],
];
const blocks = ['32x8', '32x4', '32x16', '16x16', '4x32'];
/** Figure 6: where GB/s level off. */
const [pageable, pinned] = [7.5, 10.6];

/** R1: the LBP map of one large image by strategy and block shape, and of batches. */
export function r1({ isQuick, strategies }: ReportScale): Report {
  const ours = strategies(lbp, 'map');
  const size = isQuick ? { width: 320, height: 180 } : { width: 4928, height: 2772 };
  const images = isQuick ? [1, 4] : [1, 2, 5, 10, 20, 50, 100];
  const probe = (timer: TimedSpan, more?: Partial<TimedWork>): TimedWork => ({
    timer,
    operations: [lbp],
    output: 'map',
    size,
    ...more,
  });
  const kernel = (strategy: Strategy) => probe('kernel', { strategy });
  const where = { width: size.width, height: size.height };
  const bytes = 2 * size.width * size.height;
  const rate = (name: string, title: string, column: string): Derived => ({
    name,
    title,
    of(medianMs, { labels }) {
      const ms = medianMs(column);
      return ms === undefined ? undefined : (1e-6 * bytes * Number(labels.images ?? 1)) / ms;
    },
  });

  const figures = (values: Record<string, number>) => (isQuick ? undefined : { [gtx1050]: values });

  const baselines = { cpu: probe('cpu'), twin: probe('twin') };
  const comparison: ReportTable = {
    name: 'comparison',
    title: `Table 1 · LBP map of ${sizeName(size)}: CPU and GPU`,
    rows: [
      { labels: { what: 'CPU twin, 1 thread' }, times: { time: probe('twin'), ...baselines } },
      {
        labels: { what: 'cpu device, 1 thread' },
        times: { time: probe('cpu'), ...baselines },
        cuda: { name: 'cpu', threads: 1, ...where },
        reported: figures({ ms: 450.28, 'x over CPU': 1 }),
      },
      {
        labels: { what: 'cpu device, all threads' },
        times: { time: probe('threads'), ...baselines },
        cuda: { name: 'cpu', ...where },
        reported: figures({ ms: 102.74, 'x over CPU': 4.38 }),
      },
      ...firstOfEachName(ours).map((strategy) => ({
        labels: { what: `kernel, ${strategyName(strategy)}` },
        times: { time: kernel(strategy), ...baselines },
        cuda: { name: kernels, ...where },
        reported: figures({ ms: 1.58, 'x over CPU': 284.11 }),
      })),
    ],
    derived: [speedUp('time', 'cpu'), speedUp('time', 'twin')],
    charts: [
      {
        kind: 'bars',
        name: 'comparison',
        title: 'LBP map: time of an image (figure 3)',
        group: 'what',
        xTitle: 'Milliseconds an image, median, logarithmic',
        xScale: 'log10',
        values: [
          { column: 'time_median_ms', name: 'halogrid' },
          { column: 'cuda_median_ms', name: 'the report’s program here' },
          { column: reportColumn(gtx1050, 'ms'), name: `report (CPU; ${gtx1050})` },
        ],
        best: 'least',
      },
    ],
  };

  const byShape: ReportTable = {
    name: 'strategies',
    title: `Tables 2 and 3 · LBP map of ${sizeName(size)} by strategy and shape of a block (of a workgroup)`,
    rows: [
      ...ours.map(
        (strategy): ReportRow => ({
          labels: { strategy: `halogrid ${strategyName(strategy)}`, block: laneShape(strategy) },
          times: { kernel: kernel(strategy) },
          cuda: { name: kernels, ...where },
        }),
      ),
      ...kernels.flatMap((name) => blocks.map((block) => cudaRow(name, block))),
    ],
    derived: [
      rate('gb_per_second', 'kernel\nGB/s', 'kernel'),
      withoutTime('kernel', rate('cuda_gb_per_second', 'CUDA here\nGB/s', 'cuda')),
    ],
    charts: [
      {
        kind: 'bars',
        name: 'bandwidth',
        title: 'LBP map: bytes a second of the best shape (figure 4)',
        group: 'strategy',
        xTitle: 'GB/s, read and written, of the median time, logarithmic',
        xScale: 'log10',
        values: [
          { column: 'gb_per_second', name: 'halogrid' },
          { column: 'cuda_gb_per_second', name: 'the report’s program here' },
          { column: reportColumn(gtx1050, 'GB/s'), name: `report (${gtx1050})` },
        ],
        best: 'most',
      },
      {
        kind: 'lines',
        name: 'block-shapes',
        title: 'LBP map by the shape of a block (figure 5)',
        x: 'block',
        xTitle: 'Block (workgroup), lanes',
        xScale: 'category',
        yTitle: 'GB/s, read and written',
        yScale: 'log10',
        series: ['strategy'],
        values: [
          { column: 'gb_per_second', name: '' },
          { column: 'cuda_gb_per_second', name: 'here' },
          { column: reportColumn(gtx1050, 'GB/s'), name: 'report (GTX 1050)' },
        ],
      },
    ],
  };
  function cudaRow(name: string, block: string): ReportRow {
    const [, , ms, gbPerSecond] = measuredBlocks.find(([n, b]) => n === name && b === block) ?? [];
    return {
      labels: { strategy: `CUDA ${name}`, block },
      times: {},
      cuda: { name, block, ...where },
      reported: ms === undefined ? undefined : figures({ ms, 'GB/s': gbPerSecond! }),
    };
  }

  const batches: ReportTable = {
    name: 'batches',
    title: `Figure 6 · batches of images of ${sizeName(size)}, with transfers`,
    note: `GB/s count every image twice, up and down. The report's plot levels off at ${pageable} (pageable) and ${pinned} (pinned memory).`,
    rows: images.map((count) => ({
      labels: { images: count },
      times: { batch: probe('batch', { images: count }) },
      cuda: { name: 'batch-read-only', images: count, ...where },
      otherCuda: { pageable: { name: 'batch-global', images: count, ...where } },
    })),
    derived: [
      rate('gb_per_second', 'batch\nGB/s', 'batch'),
      rate('cuda_gb_per_second', 'CUDA here\npinned\nGB/s', 'cuda'),
      rate('cuda_pageable_gb_per_second', 'CUDA here\npageable\nGB/s', 'cuda_pageable'),
    ],
    charts: [
      {
        kind: 'lines',
        name: 'batches',
        title: 'LBP maps of a batch, with transfers (figure 6)',
        x: 'images',
        xTitle: 'Images in the batch',
        xScale: 'log2',
        yTitle: 'GB/s, up and down',
        yScale: 'log10',
        series: [],
        values: [
          { column: 'gb_per_second', name: 'halogrid, mapped memory' },
          { column: 'cuda_gb_per_second', name: 'the report’s program here, pinned' },
          { column: 'cuda_pageable_gb_per_second', name: 'the report’s program here, pageable' },
        ],
        levels: isQuick
          ? []
          : [
              { name: `report (${gtx1050}), pinned`, y: pinned },
              { name: `report (${gtx1050}), pageable`, y: pageable },
            ],
      },
    ],
  };

  return {
    id: 'r1',
    title: 'R1 · LBP Parallelization with CUDA',
    method: { repetitions: 5, images: 1 },
    tables: [comparison, byShape, batches],
    cuda: [
      {
        program: 'lbp-map',
        arguments: {
          sizes: sizeName(size),
          repetitions: 5,
          images: images.join(),
          'cpu-repetitions': 5,
        },
      },
    ],
  };
}
