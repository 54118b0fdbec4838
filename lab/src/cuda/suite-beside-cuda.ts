import type { KernelCase } from '@halogrid/bench/kernel-case';
import { type BenchKernelsOptions, kernelTable, type MoreColumns, measureSuite } from '@halogrid/bench/kernels';
import { type Size, sampleBytes } from '@halogrid/geometry';
import { createPipeline } from '@halogrid/kernels';
import { type CudaCall, type CudaQuery, type CudaRow, fastestRow } from './cuda-programs.ts';
import { measureCuda } from './measure-cuda.ts';

/** Times the kernels as `halogrid bench kernels`, and CUDA programs that compute the same. Returns the table. */
export async function benchKernelsBesideCuda(
  options: BenchKernelsOptions,
  note: (line: string) => void,
): Promise<string> {
  const suite = await measureSuite(options);
  const { device, width, height, repetitions } = options;
  const rows = await measureCuda(device, cudaCalls(`${width}x${height}`, repetitions), note);
  return kernelTable(suite, rows && cudaColumns(suite.size, rows));
}

/** What a case of the suite needs of a device, and which rows of the CUDA programs compute the same. */
interface Beside {
  /** Multiply-adds of a sample of the result, at least; 0 unless given: memory is the limit. */
  multiplyAdds?: number;
  cuda?: CudaQuery;
}

const lbpMap = { cuda: { report: 'R1', name: ['global', 'read-only', 'shared'] } };
const cudaConv = (kernel: string) => ({ report: 'R5', name: ['global', 'shared'], kernel });
const eachOutput = (name: string, multiplyAdds: number) =>
  ['map', 'both', 'histogram'].map((output) => [`conv ${name}, scene, ${output}`, { multiplyAdds }] as const);

/** Cases by their names; the others have neither limits of arithmetic nor a CUDA program. */
export const besideCases: ReadonlyMap<string, Beside> = new Map<string, Beside>([
  ['LBP map', lbpMap],
  ['LBP map, 8 images a dispatch', lbpMap],
  ['LBP histogram, random', { cuda: { report: 'R2', name: ['global-atomics', 'private-histogram'] } }],
  ['LDP order 3 map and histogram', { cuda: { report: 'R4', name: ['shared', 'global'] } }],
  ['GLCM 32 levels, 4 offsets, random, histogram', { cuda: { report: 'GLCM' } }],
  // The CUDA programs compute all products of a Gaussian, as of any matrix.
  ...[3, 7, 15, 21].map(
    (side) =>
      [`conv, any matrix of ${side}x${side}`, { multiplyAdds: side ** 2, cuda: cudaConv(`gaussian-${side}`) }] as const,
  ),
  ...['gaussian-21', 'box-21'].map(
    (kernel) => [`conv ${kernel}`, { multiplyAdds: 42, cuda: cudaConv(kernel) }] as const,
  ),
  ['conv gaussian-5 as u8', { multiplyAdds: 10 }],
  ...eachOutput('sobel-x as f32', 9),
  ...eachOutput('sobel-x as i16', 9),
  ...eachOutput('gaussian-21 as f32', 42),
]);

/** The CUDA programs that time the same work on one image. */
function cudaCalls(size: string, repetitions: number): CudaCall[] {
  const common = { sizes: size, measure: 'kernel', repetitions };
  const kernels = ['gaussian-3', 'gaussian-7', 'gaussian-15', 'gaussian-21', 'box-21'].join();
  return [
    { program: 'limits', arguments: { sizes: size, repetitions } },
    { program: 'lbp-map', arguments: common },
    { program: 'lbp-histogram', arguments: { ...common, blocks: '16,32' } },
    { program: 'ldp', arguments: { ...common, order: 3, strategies: 'shared,global', histograms: 'total' } },
    { program: 'glcm', arguments: { ...common, levels: 32 } },
    { program: 'convolution', arguments: { ...common, channels: 1, kernels, blocks: '16x16,32x16' } },
  ];
}

/** What the device takes at least for each case, if that was measured, and what the fastest CUDA kernel takes. */
export function cudaColumns(size: Size, rows: readonly CudaRow[]): MoreColumns {
  const limits = deviceLimits(rows);
  const pixels = size.width * size.height;
  return {
    headings: [...(limits ? ['limit ms'] : []), 'CUDA ms', 'CUDA / halogrid', 'CUDA kernel'],
    cellsOf(one, medianMs) {
      const { multiplyAdds = 0, cuda } = besideCases.get(one.name) ?? {};
      const limitMs = limits && leastMs(limits, pixels * bytesAPixel(one), pixels * multiplyAdds);
      return [
        ...(limitMs === undefined ? [] : [limitMs.toFixed(4)]),
        ...cudaCells(cuda && fastestRow(rows, cuda), medianMs),
      ];
    },
  };
}

function cudaCells(row: CudaRow | undefined, ourMs: number): string[] {
  if (!row) return ['-', '-', '-'];
  return [
    row.ms.median.toFixed(4),
    (row.ms.median / ourMs).toFixed(2),
    [row.name, row.block].filter(Boolean).join(' '),
  ];
}

/** Bytes a pixel that a case reads and writes at least. */
export function bytesAPixel({ operations, output }: KernelCase): number {
  const { input, output: result } = createPipeline(operations);
  const written = output === 'histogram' ? 0 : sampleBytes[result.sample] * result.channels.length;
  return input.length + written;
}

/** What a device can do at best. */
export interface DeviceLimits {
  bytesPerMs: number;
  multiplyAddsPerMs: number;
}

/** From the rows of the CUDA program `limits`; undefined without them. */
export function deviceLimits(rows: readonly CudaRow[]): DeviceLimits | undefined {
  const limits = rows.filter(({ report }) => report === 'limits');
  const best = (names: readonly string[], rate: string) =>
    Math.max(...limits.filter(({ name }) => names.includes(name)).map((row) => Number(row[rate])));
  // The copy of a large buffer comes nearer to what the memory can do than the copy of the image.
  const bytesPerMs = 1e6 * best(['copy', 'copy-large'], 'gbPerSecond');
  const multiplyAddsPerMs = 1e9 * best(['multiply-add'], 'teraMultiplyAddsPerSecond');
  return bytesPerMs > 0 && multiplyAddsPerMs > 0 ? { bytesPerMs, multiplyAddsPerMs } : undefined;
}

/** Milliseconds that work takes at least. */
export function leastMs({ bytesPerMs, multiplyAddsPerMs }: DeviceLimits, bytes: number, multiplyAdds: number): number {
  return Math.max(bytes / bytesPerMs, multiplyAdds / multiplyAddsPerMs);
}
