import type { ReportRow } from './report.ts';

type Seconds = [cpu: number, shared: number, l1: number, streams: number];

/** Tables 2 to 4 of the report, third order, seconds: CPU, shared memory, L1 cache, streams. */
const seconds: Record<string, Record<number, Seconds>> = {
  'Tesla K40c': {
    256: [0.092, 0.00048, 0.00048, 0.000479],
    512: [0.35, 0.00178, 0.001648, 0.001772],
    1024: [1.4, 0.00696, 0.006275, 0.006927],
    2048: [5.6781, 0.02759, 0.024649, 0.02734],
    4096: [22.944, 0.11004, 0.098124, 0.1082],
  },
  'GeForce 720m': {
    256: [0.209, 0.003318, 0.003233, 0.003175],
    512: [0.834, 0.013184, 0.012733, 0.012572],
    1024: [3.574, 0.05238, 0.05, 0.049687],
    2048: [14.988, 0.209413, 0.202673, 0.19974],
    4096: [61.459, 0.838844, 0.810159, 0.7973],
  },
};
/** Seconds of the report's loop for 88x88, on the machine of each card. */
const secondsOf88: Record<string, number> = { 'Tesla K40c': 0.036, 'GeForce 720m': 0.078 };
/** Images, of a thousand, that the report gave to its GPU. */
export const givenToGpu: Record<number, number> = { 256: 950, 4096: 970 };

/** Milliseconds with as many digits as the report has. */
export const inMs = (value: number): number => Number((1000 * value).toFixed(3));

/** Figures of the size for which the report has the loop alone. */
export const loopFigures = (side: number): ReportRow['reported'] =>
  side === 88
    ? Object.fromEntries(Object.entries(secondsOf88).map(([hardware, cpu]) => [hardware, { 'CPU ms': inMs(cpu) }]))
    : undefined;

/** Figures of a size, on either hardware. */
export function figures(side: number, of: (row: Seconds) => Record<string, number>): ReportRow['reported'] {
  const rows = Object.entries(seconds).flatMap(([hardware, bySide]) => {
    const row = bySide[side];
    return row ? [[hardware, of(row)]] : [];
  });
  return Object.fromEntries(rows);
}
