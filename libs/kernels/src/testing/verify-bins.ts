// How counts of devices are verified, for tests.
import assert from 'node:assert/strict';
import type { Pipeline } from '../pipeline/pipeline.ts';

/**
 * Verifies histograms against the reference's, of any number of channels and cells. Counts of integers are equal; of
 * float32, which differ by the last bits, each result is in the same bin or in one beside it.
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

/** How many are in each bin and those before it. */
function sumsUpTo(counts: readonly number[]): number[] {
  let sum = 0;
  return counts.map((count) => {
    sum += count;
    return sum;
  });
}
