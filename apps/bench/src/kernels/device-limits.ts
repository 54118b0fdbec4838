import type { CudaRow } from '../cuda/cuda-rows.ts';

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
