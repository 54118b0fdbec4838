import type { DenseResult } from './plane-item.ts';

/** Every `step`-th pixel of a plane in both directions, from (x, y) on: `height` rows of `width` pixels. */
export interface Sampling {
  x: number;
  y: number;
  step: number;
  width: number;
  height: number;
}

/** Those pixels of a dense result of `bands` bands of samples of `unit` bytes, rows and bands without gaps. */
export function sampleResult(
  { bytes, stride, bandBytes }: DenseResult,
  { x, y, step, width, height }: Sampling,
  unit: number,
  bands: number,
): DenseResult {
  const rowBytes = width * unit;
  const sampled = new Uint8Array(rowBytes * height * bands);
  let to = 0;
  for (let band = 0; band < bands; band++) {
    for (let row = 0; row < height; row++) {
      const from = band * bandBytes + (y + row * step) * stride + x * unit;
      // Most results are of one byte a pixel; the inner loop makes them take three times as long (measured).
      if (unit === 1) for (let column = 0; column < width; column++) sampled[to++] = bytes[from + column * step]!;
      else {
        for (let column = 0; column < width; column++) {
          for (let i = 0; i < unit; i++) sampled[to++] = bytes[from + column * step * unit + i]!;
        }
      }
    }
  }
  return { bytes: sampled, stride: rowBytes, bandBytes: rowBytes * height };
}
