/** How the bins of a frame are cut into cells. */
export interface CellShape {
  readonly rows: number;
  readonly columns: number;
  /** Counts of a cell. */
  readonly bins: number;
}

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
 * How far a cell of one frame is from the same cell of another: 1 less the intersection of their shares, from 0 to 1. 0 where either
 * counts no pixel: nothing is known of it.
 */
export function apart(a: Float32Array, b: Float32Array, cell: number, bins: number): number {
  let [common, ours, theirs] = [0, 0, 0];
  for (let i = cell * bins; i < (cell + 1) * bins; i++) {
    const [x, y] = [a[i]!, b[i]!];
    common += x < y ? x : y;
    ours += x;
    theirs += y;
  }
  return ours > 0 && theirs > 0 ? Math.max(0, 1 - common) : 0;
}

/**
 * How cells look over some frames, whatever passes through a quarter of them: for each bin the mean of the middle half of its
 * shares, then each cell brought to a mass of 1 again.
 */
export function appearanceOf(frames: readonly Float32Array[], { rows, columns, bins }: CellShape): Float32Array {
  const looks = new Float32Array(frames[0]!.length);
  const values = new Float32Array(frames.length);
  const left = Math.floor(frames.length / 4);
  const right = frames.length - left;
  for (let i = 0; i < looks.length; i++) {
    let sum = 0;
    for (let f = 0; f < values.length; f++) {
      values[f] = frames[f]![i]!;
      sum += values[f]!;
    }
    if (sum === 0) continue;
    values.sort();
    sum = 0;
    for (let f = left; f < right; f++) sum += values[f]!;
    looks[i] = sum / (right - left);
  }
  for (let cell = 0; cell < rows * columns; cell++) {
    let mass = 0;
    for (let i = cell * bins; i < (cell + 1) * bins; i++) mass += looks[i]!;
    if (mass > 0) for (let i = cell * bins; i < (cell + 1) * bins; i++) looks[i]! /= mass;
  }
  return looks;
}
