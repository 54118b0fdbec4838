/** Bins of a block: what one entry of the ledger holds, 1 or 2 MiB of them where cells are small, and 8 MiB at most. */
export const blockBins = 2 ** 20;

/**
 * The sum over the tiles of an image that came, exact: 4 bytes a bin, and 8 once the tiles have 2^32 pixels or more. Which blocks were
 * added to is known until they are taken, so that a tile does not write all of a large result to the ledger again.
 */
export class OpenBins {
  #sums: Uint32Array | Float64Array;
  readonly #touched = new Set<number>();

  constructor(bins: number) {
    this.#sums = new Uint32Array(bins);
  }

  get sums(): Uint32Array | Float64Array {
    return this.#sums;
  }

  /** To be told before counts are added, how many pixels all tiles have with theirs: no sum is above that. */
  makeRoomFor(pixels: number): void {
    if (pixels >= 2 ** 32 && this.#sums instanceof Uint32Array) this.#sums = Float64Array.from(this.#sums);
  }

  /** Adds `count` counts, the first of which is `bins[from]`, to the sums from number `at` on. */
  add(at: number, bins: ArrayLike<number>, from: number, count: number): void {
    const sums = this.#sums;
    for (let i = 0; i < count; i++) sums[at + i]! += bins[from + i]!;
    this.#touch(at, count);
  }

  /** Sets the sums from number `at` on, as they were before. */
  restore(at: number, sums: ArrayLike<number>): void {
    this.#sums.set(sums, at);
  }

  /** Has every block taken next. */
  touchAll(): void {
    this.#touch(0, this.#sums.length);
  }

  /** The numbers of the blocks to which something was added since they were taken. */
  takeTouched(): number[] {
    const taken = [...this.#touched].sort((a, b) => a - b);
    this.#touched.clear();
    return taken;
  }

  /** The sums of a block; the last one is shorter. */
  block(number: number): Uint32Array | Float64Array {
    return this.#sums.subarray(number * blockBins, (number + 1) * blockBins);
  }

  #touch(at: number, count: number): void {
    for (let block = Math.floor(at / blockBins); block * blockBins < at + count; block++) this.#touched.add(block);
  }
}
