import type { Grid } from '@halogrid/kernels';
import { reportColumn } from './evaluate-table.ts';
import { figures, givenToGpu, inMs } from './r4-figures.ts';
import {
  type Derived,
  type Probe,
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
const sideOfWholeRuns = 1024;
const streamOrders = ['depth-first', 'breadth-first'];
/** Figure 6 of the report. */
const registerBlocks = ['8x8', '16x8', '16x16', '32x16', '32x32'];
const registerCounts = [16, 24, 32, 40, 64];
const ldp = (order: number) => ({ kernel: 'ldp', parameters: { order: String(order) } });

/** R4: Local Derivative Patterns and their histograms, by order and size; work split between CPU and GPU. */
export function r4({ isQuick, strategies }: Scale): Report {
  const sides = isQuick ? [64, 128] : [256, 512, 1024, 2048, 4096];
  const orders = isQuick ? [2, 3] : [2, 3, 4, 5, 6];
  const orderSide = isQuick ? 128 : 1024;
  const registerSides = isQuick ? [128] : [256, 1024];
  const probe = (timer: Timer, side: number, order = 3, grid?: Grid): Probe => ({
    timer,
    operations: [ldp(order)],
    output: 'histogram',
    size: square(side),
    grid,
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
  const ways = ['shared', 'global', 'l1'];
  const eachWay = (side: number, histograms: string) =>
    Object.fromEntries(ways.map((name) => [name, cuda(name, side, 3, histograms)]));
  const gridOf = (side: number): Grid => ({ rows: side / blockSide, columns: side / blockSide });
  const isBlockJob = (side: number) => !isQuick && side <= sideOfWholeRuns;
  const speedUps = [speedUp('kernel', 'cpu'), speedUp('kernel', 'threads'), speedUp('kernel', 'twin')];

  const bySize: ReportTable = {
    name: 'sizes',
    title: 'Tables 2 and 3, figure 7 · histograms of LDP of the third order, of the whole image',
    note: 'The report counts in blocks of 16x16: the next table.',
    rows: sides.map((side) => ({
      labels: { side },
      times: { kernel: probe('kernel', side), whole: probe('whole', side), ...cpus(side) },
      cuda: cuda(ways, side, 3),
      otherCuda: eachWay(side, 'total'),
      reported: figures(side, ([cpu, shared, l1, streams]) => ({
        'CPU ms': inMs(cpu),
        'shared ms': inMs(shared),
        'L1 ms': inMs(l1),
        'x, best': cpu / Math.min(shared, l1, streams),
      })),
    })),
    derived: [...speedUps, speedUp('whole', 'cpu')],
    charts: [
      speedUpsBySide({
        name: 'speed-up',
        title: 'LDP of order 3, histogram of the image (figure 7)',
        series: [],
        values: [
          { column: 'kernel_speedup_over_cpu', name: 'kernel over cpu' },
          { column: 'kernel_speedup_over_twin', name: 'kernel over twin' },
          { column: 'whole_speedup_over_cpu', name: 'whole run over cpu' },
          { column: reportColumn('Tesla K40c', 'x, best'), name: 'report (Tesla K40c)' },
          { column: reportColumn('GeForce 720m', 'x, best'), name: 'report (GeForce 720m)' },
        ],
      }),
    ],
  };

  const inBlocks: ReportTable = {
    name: 'blocks',
    title: 'Tables 2 and 3, as the report counts · a histogram of every block of 16x16 pixels, 4 x 256 bins each',
    note: `Whole runs and CPUs are measured to ${sideOfWholeRuns}x${sideOfWholeRuns}: larger ones have more cells than a job of halogrid takes.`,
    rows: sides.map((side) => {
      const grid = gridOf(side);
      const isJob = isBlockJob(side);
      return {
        labels: { side },
        times: {
          kernel: probe('kernel', side, 3, grid),
          ...(isJob && { whole: probe('whole', side, 3, grid), cpu: probe('cpu', side, 3, grid) }),
        },
        cuda: cuda(ways, side, 3, 'blocks'),
        otherCuda: eachWay(side, 'blocks'),
        reported: figures(side, ([cpu, shared, l1]) => ({
          'CPU ms': inMs(cpu),
          'shared ms': inMs(shared),
          'L1 ms': inMs(l1),
        })),
      };
    }),
    derived: [speedUp('kernel', 'cpu'), speedUp('whole', 'cpu')],
    charts: [
      {
        ...speedUpsBySide({
          name: 'blocks',
          title: 'LDP of order 3, histograms of blocks (tables 2 and 3)',
          series: [],
          values: [
            { column: 'kernel_median_ms', name: 'kernel' },
            { column: 'cpu_median_ms', name: 'cpu, one thread' },
            ...ways.map((name) => ({ column: `cuda_${name}_median_ms`, name: `CUDA ${name} here` })),
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
        ...(isBlockJob(side) && { whole_blocks: probe('whole', side, 3, gridOf(side)) }),
      },
      cuda: cuda(
        streamOrders.map((name) => `streams-${name}`),
        side,
        3,
      ),
      otherCuda: Object.fromEntries(
        streamOrders.flatMap((name) => [
          [name.replace('-', '_'), cuda(`streams-${name}`, side, 3)],
          [`${name.replace('-', '_')}_blocks`, cuda(`streams-${name}`, side, 3, 'blocks')],
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
    note: 'Registers are what the compiler is allowed. WebGPU has no such limit: halogrid has its shapes of a workgroup beside them.',
    rows: registerSides.flatMap((side): ReportRow[] => [
      ...strategies(ldp(3), 'histogram').map((strategy, i) => ({
        labels: { side, registers: `halogrid ${strategy.name}`, block: laneShape(strategy) },
        // The first is the default, which other tables measure as well.
        times: { kernel: { ...probe('kernel', side), ...(i > 0 && { strategy }) } },
      })),
      ...registerCounts.flatMap((count) =>
        registerBlocks.map((block) => ({
          labels: { side, registers: count, block },
          times: {},
          cuda: { ...cuda('shared', side, 3, 'blocks'), block, maxRegisters: count },
        })),
      ),
    ]),
    derived: [],
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
      cuda: cuda(ways, orderSide, order),
    })),
    derived: speedUps,
    charts: [],
  };

  const split: ReportTable = {
    name: 'split',
    title: `Figure 5 · ${images} images divided between one CPU thread and the device`,
    note: 'R is the CPU’s time over the device’s with transfers; T·R / (1 + R) of T images go to the device.',
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
        title: `${images} images divided between one CPU thread and the device (figure 5)`,
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

  return {
    id: 'r4',
    title: 'R4 · Local Derivative Pattern on GPUs',
    // The report does not say how often; the CUDA programs' default.
    method: { repetitions: 30, images: 1 },
    tables: [bySize, inBlocks, streams, registers, byOrder, split],
    cuda: [
      {
        program: 'ldp',
        arguments: { sizes: sides.join(), order: 3, measure: 'kernel,streams', histograms: 'total,blocks' },
      },
      ...registerCounts.map((maxRegisters) => ({
        table: 'registers',
        program: 'ldp',
        arguments: {
          sizes: registerSides.join(),
          blocks: registerBlocks.join(),
          order: 3,
          measure: 'kernel',
          histograms: 'blocks',
        },
        maxRegisters,
      })),
      ...orders
        .filter((order) => order !== 3)
        .map((order) => ({
          table: 'orders',
          program: 'ldp',
          arguments: { sizes: orderSide, order, measure: 'kernel', histograms: 'total' },
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
