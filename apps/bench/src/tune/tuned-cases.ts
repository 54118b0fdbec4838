import { type KernelName, kernelNames } from '@halogrid/kernels';
import type { KernelCase } from '../timing/kernel-case.ts';
import { randomMatrix } from '../timing/random.ts';

type Output = KernelCase['output'];
type Parameters = Record<string, string>;

/** Outputs of a kernel in `run`: with maps or previews; without; and with a grid, or before another kernel. */
const everyOutput: readonly Output[] = ['both', 'histogram', 'map'];
/** The same for kernels that have no grid and no kernel behind them. */
const withCounts: readonly Output[] = ['both', 'histogram'];

function casesOf(
  kernel: KernelName,
  parameters: Parameters = {},
  outputs: readonly Output[] = everyOutput,
  name = nameOf(kernel, parameters),
): KernelCase[] {
  return outputs.map((output) => ({ name, operations: [{ kernel, parameters }], output, input: 'photo' }));
}

/** The value of --op. */
function nameOf(kernel: string, parameters: Parameters): string {
  const pairs = Object.entries(parameters).map(([key, value]) => `${key}=${value}`);
  return pairs.length > 0 ? `${kernel}:${pairs.join(',')}` : kernel;
}

const ring = (points: number, radius: number): KernelCase[] =>
  casesOf('lbp', { convention: 'scikit-image', points: `${points}`, radius: `${radius}`, labels: 'uniform' });
const conv = (kernel: string): KernelCase[] => casesOf('conv', { kernel }, withCounts);
const anyMatrix = (side: number): KernelCase[] =>
  casesOf('conv', { matrix: randomMatrix(side) }, withCounts, `conv of any matrix of ${side}x${side}`);
const sides = [3, 5, 7, 9, 11, 15, 21];

/** Kernels whose parameters decide how they run. */
const byKernel: Partial<Record<KernelName, readonly KernelCase[]>> = {
  lbp: [...casesOf('lbp'), ...ring(8, 1), ...ring(8, 2), ...ring(16, 2), ...ring(24, 3)],
  ldp: ['2', '3', '4'].flatMap((order) => casesOf('ldp', { order })),
  conv: [
    ...['sobel', 'log-5', ...sides.map((side) => `gaussian-${side}`), ...sides.map((side) => `box-${side}`)].flatMap(
      conv,
    ),
    ...[7, 9, 11, 15, 21].flatMap(anyMatrix),
    ...['gaussian-3', 'gaussian-5', 'sobel'].flatMap((kernel) => casesOf('conv', { kernel, as: 'u8' })),
  ],
  glcm: ['8', '16', '32', '64'].flatMap((levels) => casesOf('glcm', { levels }, withCounts)),
};

/** Every kernel as it is mostly used, by its defaults unless `byKernel` says more. Other cases keep their default. */
export const tunedCases: readonly KernelCase[] = kernelNames.flatMap((name) => byKernel[name] ?? casesOf(name));

/** Cases that a software GPU measures within seconds. */
export const quickCases: readonly KernelCase[] = casesOf('lbp', {}, ['histogram', 'map']);
