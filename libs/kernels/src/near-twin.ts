// What dense results of devices are compared with, for tests.
import assert from 'node:assert/strict';
import { greatest, type Samples } from '@halogrid/geometry';
import { arithmeticOf, hasExactSums } from './conv/arithmetic.ts';
import type { Operation, Pipeline } from './pipeline.ts';

/** Checks a dense result against the twin's: equal where it is exact by definition, and otherwise near. */
export function checkNearTwin(ours: Samples, twin: Samples, { operations, output }: Pipeline): void {
  if (output.sample !== 'f32') {
    assert.deepEqual(ours, twin);
    return;
  }
  const last = operations.at(-1)!;
  // Variances have roundings in proportion, sums of floats in proportion to the largest that pixels can make.
  const [relative, absolute] = last.kernel === 'lbp' ? [1e-5, 0] : [0, toleranceOf(last)];
  assert.equal(ours.length, twin.length);
  twin.forEach((value: number, i: number) => {
    const isNear = Math.abs(ours[i]! - value) <= absolute + relative * value;
    assert.ok(isNear || (Number.isNaN(value) && Number.isNaN(ours[i]!)), `${ours[i]} for ${value} at ${i}`);
  });
}

/** 1e-5 of the range of values of a convolution, or 0 where every sum is exact. */
function toleranceOf({ parameters, reads = 'u8' }: Operation): number {
  const arithmetic = arithmeticOf(parameters, reads);
  const white = greatest[reads];
  switch (arithmetic.kind) {
    case 'exact':
      return 0;
    case 'magnitude':
      // The largest root that sobel gives.
      return 1e-5 * 4 * Math.SQRT2 * white;
    case 'sum': {
      const { taps, scale } = arithmetic;
      if (hasExactSums(taps, reads)) return 0;
      return 1e-5 * taps.reduce((sum, tap) => sum + Math.abs(tap), 0) * white * scale + 1e-30;
    }
  }
}
