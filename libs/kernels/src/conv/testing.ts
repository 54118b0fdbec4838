// What results of convolution are compared by, for tests.
import assert from 'node:assert/strict';
import type { Size } from '../geometry.ts';
import type { Pipeline } from '../pipeline.ts';
import type { Samples } from '../testing.ts';
import { arithmeticOf } from './arithmetic.ts';

/** SciPy's convolution of an image. */
export interface ExpectedConv {
  kernel: string;
  border: string;
  /** Rows and columns 0 … 15. */
  crop: number[][];
  mean: number;
  /** Root mean square. */
  l2: number;
}

/** Checks a whole image: the crop within 2e-3, mean and root mean square within 1e-6 of theirs. */
export function checkConvolution(samples: Samples, { width }: Size, { crop, mean, l2 }: ExpectedConv): void {
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

/**
 * Checks a dense result against the twin's: equal where it is exact by definition, within 1e-4 of the range of values
 * where it is a float32 sum of weights that are not integers, or a root.
 */
export function checkNearTwin(ours: Samples, twin: Samples, { operations, output }: Pipeline): void {
  const { kernel, parameters } = operations.at(-1)!;
  const tolerance = kernel === 'conv' && output.sample === 'f32' ? toleranceOf(arithmeticOf(parameters)) : 0;
  if (tolerance === 0) {
    assert.deepEqual(ours, twin);
    return;
  }
  assert.equal(ours.length, twin.length);
  twin.forEach((value: number, i: number) => {
    assertNear(ours[i]!, value, tolerance);
  });
}

function toleranceOf(arithmetic: ReturnType<typeof arithmeticOf>): number {
  switch (arithmetic.kind) {
    case 'exact':
      return 0;
    case 'magnitude':
      return 1e-4 * 1443;
    case 'sum': {
      const range = arithmetic.taps.reduce((sum, tap) => sum + Math.abs(tap), 0) * 255 * arithmetic.scale;
      return arithmetic.taps.every(Number.isInteger) && range < 2 ** 24 ? 0 : 1e-5 * range + 1e-30;
    }
  }
}

export function assertNear(actual: number, expected: number, tolerance: number): void {
  assert.ok(Math.abs(actual - expected) <= tolerance, `${actual} is not within ${tolerance} of ${expected}`);
}
