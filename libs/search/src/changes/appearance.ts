import { type CellShape, middleOfEight } from './compare-cells.ts';

/** Each bin divided by the mass of its cell; a cell that counts no pixel stays zero. */
export function sharesOf(counts: ArrayLike<number>, { rows, columns, bins }: CellShape): Float32Array {
  const shares = new Float32Array(counts.length);
  for (let cell = 0; cell < rows * columns; cell++) {
    const end = (cell + 1) * bins;
    let mass = 0;
    for (let i = cell * bins; i < end; i++) mass += counts[i]!;
    if (mass > 0) for (let i = cell * bins; i < end; i++) shares[i] = counts[i]! / mass;
  }
  return shares;
}

/**
 * How far a cell of one frame is from the same cell of another: 1 less the intersection of their shares, from 0 to 1. 0
 * if either counts no pixel, because nothing is known of it.
 */
export function apart(a: Float32Array, b: Float32Array, cell: number, bins: number): number {
  const [from, to] = [cell * bins, (cell + 1) * bins];
  let common = 0;
  for (let i = from; i < to; i++) common += Math.min(a[i]!, b[i]!);
  if (common > 0) return Math.max(0, 1 - common);
  return isAnyAbove0(a, from, to) && isAnyAbove0(b, from, to) ? 1 : 0;
}

function isAnyAbove0(values: Float32Array, from: number, to: number): boolean {
  for (let i = from; i < to; i++) if (values[i]! > 0) return true;
  return false;
}

/**
 * How cells look over eight frames, whatever passes through two of them: for each bin the mean of the middle four of
 * its shares, then each cell brought to a mass of 1 again.
 */
export function appearanceOf(frames: readonly Float32Array[], { rows, columns, bins }: CellShape): Float32Array {
  const looks = middleOfEight(frames);
  for (let cell = 0; cell < rows * columns; cell++) {
    let mass = 0;
    for (let i = cell * bins; i < (cell + 1) * bins; i++) mass += looks[i]!;
    if (mass > 0) for (let i = cell * bins; i < (cell + 1) * bins; i++) looks[i]! /= mass;
  }
  return looks;
}
