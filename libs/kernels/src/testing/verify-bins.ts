// Compares counts of devices in tests.
import assert from 'node:assert/strict';
import type { Pipeline } from '../pipeline/pipeline.ts';

/**
 * Compares histograms, of any number of channels and cells, with the reference's. Counts of integers must be equal.
 * Results in float32 differ in the last bits, so each must be in the same bin or in a neighbouring one.
 */
export function verifyBins(ours: ArrayLike<number>, reference: ArrayLike<number>, { bins, binning }: Pipeline): void {
  if (binning?.isExact !== false) {
    assert.deepEqual(ours, reference);
    return;
  }
  assert.equal(ours.length, reference.length);
  for (let first = 0; first < ours.length; first += bins) {
    const [own, theirs] = [ours, reference].map((counts) => sumsUpTo(Array.from(counts).slice(first, first + bins)));
    assert.equal(own!.at(-1), theirs!.at(-1));
    for (let bin = 0; bin < bins; bin++) {
      const [least, most] = [theirs![bin - 1] ?? 0, theirs![bin + 1] ?? theirs!.at(-1)!];
      assert.ok(own![bin]! >= least && own![bin]! <= most, `${own![bin]} up to bin ${bin}, not ${least} to ${most}`);
    }
  }
}

/** For each bin, the count of this bin and all before it. */
function sumsUpTo(counts: readonly number[]): number[] {
  let sum = 0;
  return counts.map((count) => {
    sum += count;
    return sum;
  });
}
