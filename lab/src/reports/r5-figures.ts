// The figures of report R5, measured on a GeForce RTX 3060 Ti against one thread of a Ryzen 5 3600.

export const rtx3060Ti = 'RTX 3060 Ti';
/** Its two kernels, as the CUDA programs call them. */
export const cudaNames = ['global', 'shared'];

type Figures = Record<string, number>;

const sides = [512, 1024, 1920, 2560, 3840, 4096];

/** Tables 1 and 2: speed-ups of global and of shared memory, by kernel and side of the image. */
export const speedUpsBySize: Record<string, Record<number, Figures>> = {
  'prewitt-x': paired([69.7, 79.4, 93.7, 100, 72.5, 74], [79.3, 89.7, 89.4, 100, 72.8, 73.3]),
  'gaussian-5': paired([215.3, 269.1, 206.5, 211.4, 220.5, 221.7], [279, 339.2, 268, 266.6, 276.2, 277.7]),
  'gaussian-7': paired([386.4, 459.1, 370.4, 376.6, 395, 396], [469.9, 559.8, 444.7, 443.2, 458.1, 463.7]),
  'log-5': paired([215.7, 262.5, 209, 208.6, 220.4, 222], [260.7, 311.4, 241.8, 238.9, 254.9, 254.3]),
  'sharpen-3': paired([83.8, 103.1, 79.3, 80.1, 83.6, 84], [108.9, 130.3, 102.4, 102.4, 106.7, 107.4]),
};

function paired(global: number[], shared: number[]): Record<number, Figures> {
  return Object.fromEntries(sides.map((side, i) => [side, { 'global x': global[i]!, 'shared x': shared[i]! }]));
}

/** Tables 3 and 4, 1920x1920: side of the kernel; speed-up and milliseconds of global, then of shared memory. */
const gaussians: Row[] = [
  [3, 78.7, 9.1, 80.3, 9],
  [5, 207.5, 9.5, 209.4, 9.5],
  [7, 369.2, 10.1, 396.8, 9.6],
  [9, 563.4, 10.8, 609.9, 10.1],
  [11, 769.8, 11.6, 845.5, 10.7],
  [15, 1199.9, 13.7, 1315.4, 12.6],
  [21, 1724.5, 18.3, 1987.2, 16.1],
];
const boxes: Row[] = [
  [3, 78.3, 9.1, 81.6, 8.9],
  [5, 207.3, 9.5, 214.2, 9.3],
  [7, 369.2, 10.1, 377.5, 10],
  [9, 565.5, 10.7, 609.4, 10],
  [11, 780.6, 11.5, 843, 10.7],
  [15, 1203.7, 13.6, 1333.3, 12.4],
  [21, 1724.1, 18.3, 1990.3, 16.1],
];
type Row = [side: number, globalX: number, globalMs: number, sharedX: number, sharedMs: number];

export const bySide: Record<string, Record<number, Figures>> = { gaussian: named(gaussians), box: named(boxes) };

function named(rows: Row[]): Record<number, Figures> {
  return Object.fromEntries(
    rows.map(([side, globalX, globalMs, sharedX, sharedMs]) => [
      side,
      { 'global x': globalX, 'global ms': globalMs, 'shared x': sharedX, 'shared ms': sharedMs },
    ]),
  );
}

/**
 * Table 5, 1920x1920: speed-ups of global and shared memory in blocks of 16x16, and of shared memory in its best block.
 */
export const peakFigures: Record<string, { global: number; shared: number; tuned: number; block: string }> = {
  'prewitt-x': { global: 95, shared: 94.1, tuned: 94.3, block: '16x8' },
  'gaussian-5': { global: 212.6, shared: 247.8, tuned: 258.1, block: '32x16' },
  'gaussian-7': { global: 380.9, shared: 440.9, tuned: 442.3, block: '32x16' },
  'log-5': { global: 213, shared: 244.7, tuned: 266.7, block: '16x8' },
  // Its best block is also the first of all; the report's two runs of it gave 102.4 and 103.5.
  'sharpen-3': { global: 80.5, shared: 102.4, tuned: 103.5, block: '16x16' },
};

/** Figures of table 5 for a kind of memory and a block. */
export function peakFiguresOf(kernel: string, name: string, block: string): Figures | undefined {
  const peak = peakFigures[kernel];
  if (!peak) return undefined;
  const figures = {
    ...(name === 'global' && block === '16x16' && { 'global x': peak.global }),
    ...(name === 'shared' && block === '16x16' && { 'shared x': peak.shared }),
    ...(name === 'shared' && block === peak.block && { 'tuned x': peak.tuned }),
  };
  return Object.keys(figures).length > 0 ? figures : undefined;
}
