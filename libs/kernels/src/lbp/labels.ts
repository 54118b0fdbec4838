/**
 * The labels of a neighbourhood in a dense result, with scikit-image's names:
 *
 * - `all`          its code (`default`)
 * - `ror`          the smallest code that rotating its bits gives (`ror`)
 * - `uniform`      the number of ones if at most two neighbouring bits differ, one label for all others (`uniform`)
 * - `nri-uniform`  a label per code if at most two neighbouring bits differ, one for all others (`nri_uniform`)
 * - `var`          the variance of the neighbours, NaN if they are all equal (`var`)
 */
export const lbpLabels = ['all', 'ror', 'uniform', 'nri-uniform', 'var'] as const;
export type LbpLabels = (typeof lbpLabels)[number];

/** The place of the label for codes that are not uniform: after all others, or before them as label 0. */
export type NonUniform = 'last' | 'first';

/** The number of labels for a ring of `points` neighbours; 0 for `var`, which has none. */
export function labelCount(labels: LbpLabels, points: number): number {
  switch (labels) {
    case 'all':
    case 'ror':
      return 2 ** points;
    case 'uniform':
      return points + 2;
    case 'nri-uniform':
      return points * (points - 1) + 3;
    case 'var':
      return 0;
  }
}

/** The label of a code of `points` bits. */
export function labelOf(code: number, points: number, labels: LbpLabels, nonUniform: NonUniform): number {
  if (labels === 'all' || labels === 'var') return code;
  if (labels === 'ror') return smallestRotation(code, points);
  const ones = countOnes(code);
  const isUniform = countOnes(code ^ rotateLeft(code, points)) <= 2;
  if (!isUniform) return nonUniform === 'first' ? 0 : labelCount(labels, points) - 1;
  if (labels === 'uniform') return nonUniform === 'first' ? ones + 1 : ones;
  const label = ones === 0 ? 0 : 1 + (ones - 1) * points + (ones === points ? 0 : turnsOf(code, points, nonUniform));
  return nonUniform === 'first' ? label + 1 : label;
}

/**
 * How far the run of ones of a uniform code is rotated. With `last`, rotations are counted to the right from the run
 * that begins at bit 0; with `first`, from the run that ends at the highest bit.
 */
function turnsOf(code: number, points: number, nonUniform: NonUniform): number {
  const first = code & ~rotateLeft(code, points);
  const lowest = 31 - Math.clz32(first);
  return (nonUniform === 'first' ? 2 * points - countOnes(code) - lowest : points - lowest) % points;
}

function smallestRotation(code: number, points: number): number {
  let smallest = code;
  let rotated = code;
  for (let i = 1; i < points; i++) {
    rotated = rotateLeft(rotated, points);
    if (rotated < smallest) smallest = rotated;
  }
  return smallest;
}

function rotateLeft(code: number, points: number): number {
  return ((code << 1) | (code >>> (points - 1))) & ((1 << points) - 1);
}

function countOnes(code: number): number {
  let n = code - ((code >>> 1) & 0x55555555);
  n = (n & 0x33333333) + ((n >>> 2) & 0x33333333);
  return Math.imul((n + (n >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
