/** Finds places for frames in memory. A taken place is known by its first byte; places may be freed in any order. */
export class FrameRoom {
  readonly #bytes: number;
  /** Taken places, in order. */
  readonly #taken: { from: number; to: number }[] = [];

  constructor(bytes: number) {
    this.#bytes = bytes;
  }

  /**
   * Takes a place for at least one byte and returns its first byte, a multiple of 64; undefined if it does not fit now.
   */
  take(bytes: number): number | undefined {
    let from = 0;
    for (const [i, { from: next, to }] of this.#taken.entries()) {
      if (from + bytes <= next) return this.#insert(i, from, bytes);
      from = Math.ceil(to / 64) * 64;
    }
    return from + bytes <= this.#bytes ? this.#insert(this.#taken.length, from, bytes) : undefined;
  }

  free(from: number): void {
    const at = this.#taken.findIndex((one) => one.from === from);
    if (at >= 0) this.#taken.splice(at, 1);
  }

  #insert(at: number, from: number, bytes: number): number {
    this.#taken.splice(at, 0, { from, to: from + bytes });
    return from;
  }
}
