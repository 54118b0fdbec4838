// Compares results of convolution in tests.
import assert from 'node:assert/strict';
import type { MapSamples, Size } from '@halogrid/geometry';

/** The result of SciPy's convolution of an image. */
export interface ExpectedConv {
  kernel: string;
  border: string;
  /** Rows and columns 0 … 15. */
  crop: number[][];
  mean: number;
  /** Root mean square. */
  l2: number;
}

/** Checks a whole image: the crop within 2e-3, mean and root mean square within 1e-6 of the expected ones. */
export function checkConvolution(samples: MapSamples, { width }: Size, { crop, mean, l2 }: ExpectedConv): void {
  crop.forEach((row, y) => {
    row.forEach((value, x) => {
      assert.ok(
        Math.abs(samples[y * width + x]! - value) <= 2e-3,
        `${samples[y * width + x]} for ${value} at ${x}, ${y}`,
      );
    });
  });
  let [sum, squares] = [0, 0];
  for (const sample of samples) {
    sum += sample;
    squares += sample * sample;
  }
  assertNear(sum / samples.length, mean, 1e-6 * Math.abs(mean) + 1e-9);
  assertNear(Math.sqrt(squares / samples.length), l2, 1e-6 * l2);
}

export function assertNear(actual: number, expected: number, tolerance: number): void {
  assert.ok(Math.abs(actual - expected) <= tolerance, `${actual} is not within ${tolerance} of ${expected}`);
}
