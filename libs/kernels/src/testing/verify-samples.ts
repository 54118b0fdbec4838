// Compares dense results of devices in tests.
import assert from 'node:assert/strict';
import type { MapSamples } from '@halogrid/geometry';
import { catalogue, findKernel } from '../catalogue.ts';
import type { Kernels } from '../kernel/kernel.ts';
import type { Pipeline } from '../pipeline/pipeline.ts';

/**
 * Compares a dense result with the reference's: within the tolerance of the last kernel, or equal if it has no
 * tolerance.
 */
export function verifySamples(
  ours: MapSamples,
  reference: MapSamples,
  { operations, output }: Pipeline,
  kernels: Kernels = catalogue,
): void {
  const { kernel, settings, reads = 'u8' } = operations.at(-1)!;
  const tolerance = output.sample === 'f32' && findKernel(kernel, kernels).tolerance?.(settings, reads);
  if (!tolerance) {
    assert.deepEqual(ours, reference);
    return;
  }
  const { relative, absolute } = tolerance;
  assert.equal(ours.length, reference.length);
  reference.forEach((value: number, i: number) => {
    const isNear = Math.abs(ours[i]! - value) <= absolute + relative * value;
    assert.ok(isNear || (Number.isNaN(value) && Number.isNaN(ours[i]!)), `${ours[i]} for ${value} at ${i}`);
  });
}
