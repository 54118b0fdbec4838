import { reportColumn } from './evaluate-table.ts';
import { overPlainLoop, plainLoop, withPlainLoop } from './plain-loop.ts';
import { figures, inMs, loopFigures } from './r4-figures.ts';
import { columnOf, cpus, cuda, type HistogramCut, inGrid, ldpWork, speedUps } from './r4-work.ts';
import { type ReportTable, speedUp, speedUpsBySide, timesBySide } from './report.ts';

/**
 * Ways of the CUDA programs to read pixels. The number is the percentage of a multiprocessor's memory for shared
 * arrays.
 */
const ways = ['shared', 'shared-75', 'global', 'l1-75', 'l1-25', 'l1-0'];
const withTransfers = ['shared-whole', 'global-whole'];
const loopSpeedUps = overPlainLoop('kernel', 'whole', 'cpu', 'cuda_shared', 'cuda_global', 'cuda_l1_25');

const eachWay = (side: number, histograms: HistogramCut) => ({
  ...Object.fromEntries([...ways, ...withTransfers].map((name) => [columnOf(name), cuda(name, side, 3, histograms)])),
  ...withPlainLoop({ width: side, order: 3 }),
});

/** Histograms of the whole image by size: tables 2 and 3, figure 7. */
export function bySize(sides: readonly number[]): ReportTable {
  return {
    name: 'sizes',
    title: 'Tables 2 and 3, figure 7 · histograms of LDP of the third order, of the whole image',
    note: 'The report counts in blocks of 16x16: the next table.',
    rows: sides.map((side) => ({
      labels: { side },
      times: { kernel: ldpWork('kernel', side), whole: ldpWork('whole', side), ...cpus(side) },
      cuda: cuda(ways, side),
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
          { column: `kernel_speedup_over_${plainLoop}`, name: 'kernel over the report’s loop' },
          { column: `cuda_shared_speedup_over_${plainLoop}`, name: 'CUDA shared over the report’s loop' },
          { column: reportColumn('Tesla K40c', 'x, best'), name: 'report (Tesla K40c) over its loop' },
          { column: reportColumn('GeForce 720m', 'x, best'), name: 'report (GeForce 720m) over its loop' },
        ],
      }),
      timesBySide({
        name: 'times',
        title: 'LDP of order 3, histogram of the image: sequential and global memory (figure 7)',
        series: [],
        values: [
          { column: `${plainLoop}_median_ms`, name: 'the report’s loop here, one thread' },
          { column: 'cuda_global_whole_median_ms', name: 'CUDA global here, with transfers' },
          { column: 'cuda_global_median_ms', name: 'CUDA global here, kernel' },
          { column: 'cpu_median_ms', name: 'halogrid, one thread' },
          { column: 'whole_median_ms', name: 'halogrid, whole run' },
          { column: 'kernel_median_ms', name: 'halogrid, kernel' },
          { column: reportColumn('Tesla K40c', 'CPU ms'), name: 'report, loop beside the K40c' },
        ],
      }),
    ],
  };
}

/** Histograms of blocks by size, as the report counts: tables 2 and 3. */
export function inBlocks(sides: readonly number[]): ReportTable {
  return {
    name: 'blocks',
    title: 'Tables 2 and 3, as the report counts · a histogram of every block of 16x16 pixels, 4 x 256 bins each',
    rows: sides.map((side) => ({
      labels: { side },
      times: {
        kernel: ldpWork('kernel', side, 3, inGrid(side)),
        whole: ldpWork('whole', side, 3, inGrid(side)),
        cpu: ldpWork('cpu', side, 3, inGrid(side)),
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
      timesBySide({
        name: 'blocks',
        title: 'LDP of order 3, histograms of blocks (tables 2 and 3)',
        series: [],
        values: [
          { column: 'kernel_median_ms', name: 'kernel' },
          { column: 'cpu_median_ms', name: 'cpu, one thread' },
          { column: `${plainLoop}_median_ms`, name: 'the report’s loop here' },
          { column: 'cuda_shared_median_ms', name: 'CUDA shared here' },
          { column: 'cuda_l1_25_median_ms', name: 'CUDA cache here, as in the report' },
          { column: reportColumn('Tesla K40c', 'shared ms'), name: 'report (Tesla K40c), shared' },
          { column: reportColumn('Tesla K40c', 'L1 ms'), name: 'report (Tesla K40c), L1' },
          { column: reportColumn('Tesla K40c', 'CPU ms'), name: 'report, CPU beside the K40c' },
        ],
      }),
    ],
  };
}
