import type { Size } from '@halogrid/geometry';
import { table } from '@halogrid/service/text-table';
import { type CudaRow, fastestRow } from '../cuda/cuda-programs.ts';
import { measureCuda } from '../cuda/measure-cuda.ts';
import { drawGrayScene } from '../images/draw-scene.ts';
import { spreadOf } from '../timing/statistics.ts';
import { type KernelTime, measureKernelTimes } from '../timing/time-strategies.ts';
import { bytesAPixel, cudaCalls, kernelSuite } from './kernel-suite.ts';

export interface BenchKernelsOptions {
  device: 'gpu' | 'software';
  width: number;
  height: number;
  repetitions: number;
}

/** Times the kernels by the device's own clock, and what CUDA programs take for the same. Returns the table. */
export async function benchKernels(options: BenchKernelsOptions, note: (line: string) => void): Promise<string> {
  const { device: kind, width, height, repetitions } = options;
  const size = { width, height };
  const { device, rows } = await measureKernelTimes({
    kind,
    size,
    photo: drawGrayScene(size),
    cases: kernelSuite,
    repetitions,
    // A hundred runs between two timestamps; SwiftShader takes a second for a few.
    runsPerSample: kind === 'gpu' ? 100 : 1,
  });
  const cuda = await measureCuda(kind, cudaCalls(`${width}x${height}`, repetitions), note);
  return kernelTable(`${device}, ${width} x ${height}, ${repetitions} repetitions`, size, rows, cuda);
}

/** The table of the times of every case of the suite, in its order; columns that need CUDA only where it ran. */
export function kernelTable(
  title: string,
  size: Size,
  times: readonly KernelTime[],
  cuda?: readonly CudaRow[],
): string {
  const limits = cuda && deviceLimits(cuda);
  const pixels = size.width * size.height;
  const rows = times.map(({ name, samplesMs }, i) => {
    const one = kernelSuite[i]!;
    const { median, min, max } = spreadOf(samplesMs);
    const theirs = one.cuda && cuda && fastestRow(cuda, one.cuda);
    const limit = limits && leastMs(limits, pixels * bytesAPixel(one), pixels * one.multiplyAdds);
    return [
      name,
      ...[median, min, max].map((ms) => ms.toFixed(4)),
      String(Number((pixels / median / 1e6).toPrecision(3))),
      ...(limit === undefined ? [] : [limit.toFixed(4)]),
      ...(cuda ? cudaCells(theirs, median) : []),
    ];
  });
  const cudaHeadings = cuda ? ['CUDA ms', 'CUDA / halogrid', 'CUDA kernel'] : [];
  const headings = ['median ms', 'min ms', 'max ms', 'Gpx/s', ...(limits ? ['limit ms'] : []), ...cudaHeadings];
  return table([[title, ...headings], ...rows]);
}

function cudaCells(row: CudaRow | undefined, ourMs: number): string[] {
  if (!row) return ['-', '-', '-'];
  return [
    row.ms.median.toFixed(4),
    (row.ms.median / ourMs).toFixed(2),
    [row.name, row.block].filter(Boolean).join(' '),
  ];
}

/** What a device can do at best. */
export interface DeviceLimits {
  bytesPerMs: number;
  multiplyAddsPerMs: number;
}

/** From the rows of the CUDA program `limits`; undefined where they are not there. */
export function deviceLimits(rows: readonly CudaRow[]): DeviceLimits | undefined {
  const limits = rows.filter(({ report }) => report === 'limits');
  const best = (names: readonly string[], rate: string) =>
    Math.max(...limits.filter(({ name }) => names.includes(name)).map((row) => Number(row[rate])));
  // The copy of a large buffer comes nearer to what the memory can do than that of the image.
  const bytesPerMs = 1e6 * best(['copy', 'copy-large'], 'gbPerSecond');
  const multiplyAddsPerMs = 1e9 * best(['multiply-add'], 'teraMultiplyAddsPerSecond');
  return bytesPerMs > 0 && multiplyAddsPerMs > 0 ? { bytesPerMs, multiplyAddsPerMs } : undefined;
}

/** Milliseconds that work takes at least. */
export function leastMs({ bytesPerMs, multiplyAddsPerMs }: DeviceLimits, bytes: number, multiplyAdds: number): number {
  return Math.max(bytes / bytesPerMs, multiplyAdds / multiplyAddsPerMs);
}
