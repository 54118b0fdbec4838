/** How many of the last durations the median covers. */
const window = 64;

/** The last durations of something, in milliseconds, for their median. */
export class Durations {
  readonly #last: number[] = [];
  #next = 0;

  add(ms: number): void {
    this.#last[this.#next++ % window] = ms;
  }

  /** In milliseconds; undefined before the first duration. */
  median(): number | undefined {
    return [...this.#last].sort((a, b) => a - b)[this.#last.length >> 1];
  }
}
