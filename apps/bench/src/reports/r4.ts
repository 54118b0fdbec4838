import type { Grid } from '@halogrid/kernels';
import { reportColumn } from './evaluate-table.ts';
import { figures, givenToGpu, inMs, loopFigures } from './r4-figures.ts';
import {
  contents,
  type Derived,
  overPlainLoop,
  type Probe,
  plainLoop,
  type Report,
  type ReportRow,
  type ReportTable,
  speedUp,
  speedUpsBySide,
  type Timer,
} from './report.ts';
import { laneShape, type Scale, square } from './scale.ts';

const images = 1000;
/** Side of the blocks whose histograms the report puts side by side. */
const blockSide = 16;
const streamOrders = ['depth-first', 'breadth-first'];
/** Figure 6 of the report: 64 to 1,024 threads; its best register counts are 23 and 32, its compiler's own choice 42. */
const registerBlocks = ['8x8', '16x8', '16x12', '16x16', '32x16', '32x24', '32x32'];
const registerCounts = [16, 23, 32, 42, 64];
const waysOfOrders = ['shared', 'global'];
const waysOfContents = ['shared', 'global', 'l1-25'];
const ldp = (order: number) => ({ kernel: 'ldp', parameters: { order: String(order) } });

/** R4: Local Derivative Patterns and their histograms, by order and size; work split between CPU and GPU. */
export function r4({ isQuick, strategies }: Scale): Report {
  const sides = isQuick ? [64, 128] : [256, 512, 1024, 2048, 4096];
  // The report has its loop alone for the smallest.
  const imageSides = isQuick ? sides : [88, ...sides];
  const contentSide = isQuick ? 128 : 1024;
  const orders = isQuick ? [2, 3] : [2, 3, 4, 5, 6];
  const orderSide = isQuick ? 128 : 1024;
  const registerSides = isQuick ? [128] : [256, 1024];
  const probe = (timer: Timer, side: number, order = 3, more?: Partial<Probe>): Probe => ({
    timer,
    operations: [ldp(order)],
    output: 'histogram',
    size: square(side),
    ...more,
  });
  const cpus = (side: number, order = 3) => ({
    cpu: probe('cpu', side, order),
    threads: probe('threads', side, order),
    twin: probe('twin', side, order),
  });
  const cuda = (name: string | string[], side: number, order: number, histograms = 'total') => ({
    name,
    width: side,
    order,
    histograms,
    block: '16x16',
  });
  // The number is the percentage of a multiprocessor's memory for shared arrays.
  const ways = ['shared', 'shared-75', 'global', 'l1-75', 'l1-25', 'l1-0'];
  const columnOf = (name: string) => name.replaceAll('-', '_');
  const withTransfers = ['shared-whole', 'global-whole'];
  const eachWay = (side: number, histograms: string) => ({
    ...Object.fromEntries([...ways, ...withTransfers].map((name) => [columnOf(name), cuda(name, side, 3, histograms)])),
    [plainLoop]: { name: 'cpu', threads: 1, width: side, order: 3 },
  });
  const inGrid = (side: number): { grid: Grid } => ({ grid: { rows: side / blockSide, columns: side / blockSide } });
  const speedUps = [speedUp('kernel', 'cpu'), speedUp('kernel', 'threads'), speedUp('kernel', 'twin')];
  const loopSpeedUps = overPlainLoop('kernel', 'whole', 'cpu', 'cuda_shared', 'cuda_global', 'cuda_l1_25');

  const bySize: ReportTable = {
    name: 'sizes',
    title: 'Tables 2 and 3, figure 7 · histograms of LDP of the third order, of the whole image',
    note: 'The report counts in blocks of 16x16: the next table.',
    rows: imageSides.map((side) => ({
      labels: { side },
      times: { kernel: probe('kernel', side), whole: probe('whole', side), ...cpus(side) },
      cuda: cuda(ways, side, 3),
      otherCuda: eachWay(side, 'total'),
      reported:
        loopFigures(side) ??
        figures(side, ([cpu, shared, l1, streams]) => ({
          'CPU ms': inMs(cpu),
          'shared ms': inMs(shared),
          'L1 ms': inMs(l1),
          'x, best': cpu / Math.min(shared, l1, streams),
        })),
    })),
    derived: [...speedUps, speedUp('whole', 'cpu'), ...loopSpeedUps, ...overPlainLoop('cuda_global_whole')],
    charts: [
      speedUpsBySide({
        name: 'speed-up',
        title: 'LDP of order 3, histogram of the image (tables 2 to 4)',
        series: [],
        values: [
          { column: 'kernel_speedup_over_cpu', name: 'kernel over cpu' },
          { column: 'kernel_speedup_over_twin', name: 'kernel over twin' },
          { column: 'whole_speedup_over_cpu', name: 'whole run over cpu' },
          { column: `kernel_speedup_over_cuda_${plainLoop}`, name: 'kernel over the report’s loop' },
          { column: `cuda_shared_speedup_over_cuda_${plainLoop}`, name: 'CUDA shared over the report’s loop' },
          { column: reportColumn('Tesla K40c', 'x, best'), name: 'report (Tesla K40c) over its loop' },
          { column: reportColumn('GeForce 720m', 'x, best'), name: 'report (GeForce 720m) over its loop' },
        ],
      }),
      {
        ...speedUpsBySide({
          name: 'times',
          title: 'LDP of order 3, histogram of the image: sequential and global memory (figure 7)',
          series: [],
          values: [
            { column: `cuda_${plainLoop}_median_ms`, name: 'the report’s loop here, one thread' },
            { column: 'cuda_global_whole_median_ms', name: 'CUDA global here, with transfers' },
            { column: 'cuda_global_median_ms', name: 'CUDA global here, kernel' },
            { column: 'cpu_median_ms', name: 'halogrid, one thread' },
            { column: 'whole_median_ms', name: 'halogrid, whole run' },
            { column: 'kernel_median_ms', name: 'halogrid, kernel' },
            { column: reportColumn('Tesla K40c', 'CPU ms'), name: 'report, loop beside the K40c' },
          ],
        }),
        yTitle: 'Milliseconds an image',
      },
    ],
  };

  const inBlocks: ReportTable = {
    name: 'blocks',
    title: 'Tables 2 and 3, as the report counts · a histogram of every block of 16x16 pixels, 4 x 256 bins each',
    rows: sides.map((side) => ({
      labels: { side },
      times: {
        kernel: probe('kernel', side, 3, inGrid(side)),
        whole: probe('whole', side, 3, inGrid(side)),
        cpu: probe('cpu', side, 3, inGrid(side)),
      },
      cuda: cuda(ways, side, 3, 'blocks'),
      otherCuda: eachWay(side, 'blocks'),
      reported: figures(side, ([cpu, shared, l1]) => ({
        'CPU ms': inMs(cpu),
        'shared ms': inMs(shared),
        'L1 ms': inMs(l1),
        'shared x': cpu / shared,
        'L1 x': cpu / l1,
      })),
    })),
    derived: [speedUp('kernel', 'cpu'), speedUp('whole', 'cpu'), ...loopSpeedUps],
    charts: [
      {
        ...speedUpsBySide({
          name: 'blocks',
          title: 'LDP of order 3, histograms of blocks (tables 2 and 3)',
          series: [],
          values: [
            { column: 'kernel_median_ms', name: 'kernel' },
            { column: 'cpu_median_ms', name: 'cpu, one thread' },
            { column: `cuda_${plainLoop}_median_ms`, name: 'the report’s loop here' },
            { column: 'cuda_shared_median_ms', name: 'CUDA shared here' },
            { column: 'cuda_l1_25_median_ms', name: 'CUDA cache here, as in the report' },
            { column: reportColumn('Tesla K40c', 'shared ms'), name: 'report (Tesla K40c), shared' },
            { column: reportColumn('Tesla K40c', 'L1 ms'), name: 'report (Tesla K40c), L1' },
            { column: reportColumn('Tesla K40c', 'CPU ms'), name: 'report, CPU beside the K40c' },
          ],
        }),
        yTitle: 'Milliseconds an image',
      },
    ],
  };

  const streams: ReportTable = {
    name: 'streams',
    title: 'Table 4 · the same with transfers, in streams',
    note: 'Of the whole image; columns of blocks are of every block of 16x16, as the report counts.',
    rows: sides.map((side) => ({
      labels: { side },
      times: {
        whole: probe('whole', side),
        cpu: probe('cpu', side),
        whole_blocks: probe('whole', side, 3, inGrid(side)),
      },
      cuda: cuda(
        streamOrders.map((name) => `streams-${name}`),
        side,
        3,
      ),
      otherCuda: Object.fromEntries(
        streamOrders.flatMap((name) => [
          [columnOf(name), cuda(`streams-${name}`, side, 3)],
          [`${columnOf(name)}_blocks`, cuda(`streams-${name}`, side, 3, 'blocks')],
        ]),
      ),
      reported: figures(side, (row) => ({ 'streams ms': inMs(row[3]) })),
    })),
    derived: [speedUp('whole', 'cpu'), speedUp('cuda', 'cpu')],
    charts: [
      {
        ...speedUpsBySide({
          name: 'streams',
          title: 'LDP of order 3 with transfers (table 4)',
          series: [],
          values: [
            { column: 'whole_median_ms', name: 'halogrid, one image at a time' },
            { column: 'cuda_depth_first_median_ms', name: 'CUDA streams here, depth first' },
            { column: 'cuda_breadth_first_median_ms', name: 'CUDA streams here, breadth first' },
            { column: 'whole_blocks_median_ms', name: 'halogrid, blocks' },
            { column: 'cuda_depth_first_blocks_median_ms', name: 'CUDA streams here, blocks' },
            { column: reportColumn('Tesla K40c', 'streams ms'), name: 'report (Tesla K40c)' },
            { column: reportColumn('GeForce 720m', 'streams ms'), name: 'report (GeForce 720m)' },
          ],
        }),
        yTitle: 'Milliseconds an image',
      },
    ],
  };

  const registers: ReportTable = {
    name: 'registers',
    title: 'Figure 6 · threads of a block and registers of a thread, CUDA, shared memory',
    note: 'Registers are what the compiler may use, and what it used; occupancy is the part of a multiprocessor’s threads. WebGPU has no such limit: halogrid has its shapes of a workgroup beside them.',
    rows: registerSides.flatMap((side): ReportRow[] => [
      ...strategies(ldp(3), 'histogram').map((strategy, i) => ({
        labels: { side, registers: `halogrid ${strategy.name}`, block: laneShape(strategy) },
        // The first is the default, which other tables measure as well.
        times: { kernel: { ...probe('kernel', side), ...(i > 0 && { strategy }) } },
      })),
      ...[undefined, ...registerCounts].flatMap((maxRegisters) =>
        registerBlocks.map((block) => ({
          labels: { side, registers: maxRegisters ?? 'no limit', block },
          times: {},
          cuda: { ...cuda('shared', side, 3, 'blocks'), block, ...(maxRegisters && { maxRegisters }) },
        })),
      ),
    ]),
    derived: [],
    cudaFields: ['registers', 'occupancy'],
    charts: registerSides.map((side) => ({
      kind: 'heat',
      name: `registers-${side}`,
      title: `LDP of ${side}x${side}, ms, by registers and block (figure 6)`,
      x: 'block',
      xTitle: 'Block (workgroup), lanes',
      y: ['registers'],
      values: ['kernel_median_ms', 'cuda_median_ms'],
      only: { side },
    })),
  };

  const byOrder: ReportTable = {
    name: 'orders',
    title: `Order by order · histograms of LDP of ${orderSide}x${orderSide}`,
    rows: orders.map((order) => ({
      labels: { order },
      times: { kernel: probe('kernel', orderSide, order), ...cpus(orderSide, order) },
      cuda: cuda(waysOfOrders, orderSide, order),
    })),
    derived: speedUps,
    charts: [],
  };

  const split: ReportTable = {
    name: 'split',
    title: `Figure 5 · ${images} images divided between one CPU thread and the device, for their histograms`,
    note: 'The report divides the intersection of histograms so. R is the CPU’s time over the device’s with transfers; T·R / (1 + R) of T images go to the device.',
    rows: sides.map((side) => ({
      labels: { side },
      times: { whole: probe('whole', side), cpu: probe('cpu', side) },
      reported: givenToGpu[side] ? { 'GeForce 720m': { 'images to the GPU': givenToGpu[side] } } : undefined,
    })),
    derived: [
      { ...speedUp('whole', 'cpu'), title: 'R' },
      share('images_to_device', 'images\nto the\ndevice', (ratio) => ratio / (1 + ratio)),
      share('images_to_cpu', 'images\nto the\nCPU', (ratio) => 1 / (1 + ratio)),
    ],
    charts: [
      {
        kind: 'lines',
        name: 'split',
        title: `Histograms of ${images} images, divided between one CPU thread and the device (rule of figure 5)`,
        x: 'side',
        xTitle: 'Side of the image, px',
        xScale: 'log2',
        yTitle: 'Images',
        yScale: 'linear',
        series: [],
        values: [
          { column: 'images_to_device', name: 'to the device' },
          { column: 'images_to_cpu', name: 'to the CPU' },
          { column: reportColumn('GeForce 720m', 'images to the GPU'), name: 'report (GeForce 720m), to the GPU' },
        ],
      },
    ],
  };

  const byContent: ReportTable = {
    name: 'contents',
    title: `Histograms of LDP of ${contentSide}x${contentSide} by what the image shows`,
    rows: contents.flatMap(({ label: content, of }): ReportRow[] => [
      { labels: { content, what: 'halogrid' }, times: { kernel: probe('kernel', contentSide, 3, of) } },
      {
        labels: { content, what: 'halogrid', histograms: 'blocks' },
        times: { kernel: probe('kernel', contentSide, 3, { ...inGrid(contentSide), ...of }) },
      },
      ...waysOfContents.flatMap((name) =>
        ['total', 'blocks'].map((histograms) => ({
          labels: { content, what: `CUDA ${name}`, histograms },
          times: {},
          cuda: { ...cuda(name, contentSide, 3, histograms), ...of },
        })),
      ),
    ]),
    derived: [],
    charts: [],
  };

  return {
    id: 'r4',
    title: 'R4 · Local Derivative Pattern on GPUs',
    // The report does not say how often; the CUDA programs' default.
    method: { repetitions: 30, images: 1 },
    tables: [bySize, inBlocks, streams, registers, byOrder, split, byContent],
    cuda: [
      {
        program: 'ldp',
        arguments: { sizes: imageSides.join(), order: 3, measure: 'kernel', 'cpu-repetitions': 3 },
      },
      {
        program: 'ldp',
        arguments: { sizes: sides.join(), order: 3, measure: 'whole,streams', strategies: 'shared,global' },
      },
      ...[undefined, ...registerCounts].map((maxRegisters) => ({
        table: registers.name,
        program: 'ldp',
        arguments: {
          sizes: registerSides.join(),
          blocks: registerBlocks.join(),
          order: 3,
          measure: 'kernel',
          strategies: 'shared',
          histograms: 'blocks',
        },
        maxRegisters,
      })),
      {
        table: byContent.name,
        program: 'ldp',
        arguments: { sizes: contentSide, order: 3, measure: 'kernel', strategies: waysOfContents.join() },
        content: 'photograph',
      },
      ...orders
        .filter((order) => order !== 3)
        .map((order) => ({
          table: byOrder.name,
          program: 'ldp',
          arguments: {
            sizes: orderSide,
            order,
            measure: 'kernel',
            strategies: waysOfOrders.join(),
            histograms: 'total',
          },
        })),
    ],
  };
}

function share(name: string, title: string, part: (ratio: number) => number): Derived {
  return {
    name,
    title,
    of(medianMs) {
      const [cpuMs, deviceMs] = [medianMs('cpu'), medianMs('whole')];
      return cpuMs === undefined || deviceMs === undefined ? undefined : Math.round(images * part(cpuMs / deviceMs));
    },
  };
}
