import { reportColumn } from './evaluate-table.ts';
import { figures, givenToGpu, inMs } from './r4-figures.ts';
import { columnOf, cuda, inGrid, ldpWork } from './r4-work.ts';
import { type Derived, type ReportTable, speedUp, timesBySide } from './report.ts';

const images = 1000;
const streamOrders = ['depth-first', 'breadth-first'];

/** Histograms with transfers in streams: table 4. */
export function inStreams(sides: readonly number[]): ReportTable {
  return {
    name: 'streams',
    title: 'Table 4 · the same with transfers, in streams',
    note: 'Of the whole image; columns of blocks are of every block of 16x16, as the report counts.',
    rows: sides.map((side) => ({
      labels: { side },
      times: {
        whole: ldpWork('whole', side),
        cpu: ldpWork('cpu', side),
        whole_blocks: ldpWork('whole', side, 3, inGrid(side)),
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
      timesBySide({
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
    ],
  };
}

/** Images divided between CPU and device: figure 5. */
export function divided(sides: readonly number[]): ReportTable {
  return {
    name: 'split',
    title: `Figure 5 · ${images} images divided between one CPU thread and the device, for their histograms`,
    note: 'The report divides the intersection of histograms so. R is the CPU’s time over the device’s with transfers; T·R / (1 + R) of T images go to the device.',
    rows: sides.map((side) => ({
      labels: { side },
      times: { whole: ldpWork('whole', side), cpu: ldpWork('cpu', side) },
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
