import { type Probe, type Report, type ReportTable, speedUp, speedUpsBySide, type Timer } from './report.ts';
import { type Scale, square } from './scale.ts';

/** Tables 1 to 3 of the report, ms. It gives the CPU's first one as '~0'. */
const figures: Record<number, Record<string, number>> = {
  128: { 'GPU ms': 0.169, 'tiled GPU ms': 0.097 },
  512: { 'CPU ms': 6, 'GPU ms': 0.296, 'tiled GPU ms': 0.18 },
  1024: { 'CPU ms': 22, 'GPU ms': 0.648, 'tiled GPU ms': 0.357 },
};

/** R3: LBP map and histogram of small squares, bits in the other order. */
export function r3({ isQuick }: Scale): Report {
  const sides = isQuick ? [128] : [128, 512, 1024];
  const probe = (timer: Timer, side: number): Probe => ({
    timer,
    operations: [{ kernel: 'lbp', parameters: { convention: 'nw-cw-lsb' }, border: 'zero' }],
    output: 'both',
    size: square(side),
  });
  const sizes: ReportTable = {
    name: 'sizes',
    title: 'Tables 1 to 3 · LBP map and histogram',
    note: 'The report’s CPU leaves the outermost ring out, and takes ~0 ms for 128x128.',
    rows: sides.map((side) => ({
      labels: { side },
      times: {
        kernel: probe('kernel', side),
        whole: probe('whole', side),
        cpu: probe('cpu', side),
        threads: probe('threads', side),
        twin: probe('twin', side),
      },
      cuda: { name: ['simple', 'tiled'], width: side },
      reported: { 'RTX 3080': figures[side]! },
    })),
    derived: [speedUp('kernel', 'cpu'), speedUp('kernel', 'twin'), speedUp('whole', 'twin')],
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
    ],
  };
  return {
    id: 'r3',
    title: 'R3 · Local Binary Pattern, Kuwait University',
    // The report does not say how often; the CUDA programs' default.
    method: { repetitions: 30, images: 1 },
    tables: [sizes],
    cuda: [{ program: 'lbp-tiled', arguments: { sizes: sides.join(), measure: 'kernel' } }],
  };
}
