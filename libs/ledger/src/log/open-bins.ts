/** The exact sums over the tiles of an image so far: 4 bytes per bin, and 8 once the tiles have 2^32 pixels or more. */
export class OpenBins {
  #sums: Uint32Array | Float64Array;

  constructor(bins: number) {
    this.#sums = new Uint32Array(bins);
  }

  get sums(): Uint32Array | Float64Array {
    return this.#sums;
  }

  /**
   * Call it before counts are added, with the pixels of all tiles including the new one: no sum can exceed this number.
   */
  makeRoomFor(pixels: number): void {
    if (pixels >= 2 ** 32 && this.#sums instanceof Uint32Array) this.#sums = Float64Array.from(this.#sums);
  }

  /** Adds `count` counts from `bins[from]` on to the sums from number `at` on. */
  add(at: number, bins: ArrayLike<number>, from: number, count: number): void {
    const sums = this.#sums;
    for (let i = 0; i < count; i++) sums[at + i]! += bins[from + i]!;
  }
}
