/**
 * Speeds are means over this time: long enough not to jump with every shard, short enough to follow nodes that join.
 */
const windowMs = 10_000;

/** Speeds of things that count up, from how far each was at some moments. */
export class Rates {
  /** @type {Map<string, { ms: number, count: number }[]>} */
  #samples = new Map();

  /**
   * Takes how far each thing is at `ms`; those that are missing are forgotten.
   *
   * @param {number} ms
   * @param {ReadonlyMap<string, number>} counts
   */
  take(ms, counts) {
    for (const name of this.#samples.keys()) if (!counts.has(name)) this.#samples.delete(name);
    for (const [name, count] of counts) {
      const samples = this.#samples.get(name) ?? [];
      samples.push({ ms, count });
      while (samples.length > 2 && samples[1].ms <= ms - windowMs) samples.shift();
      this.#samples.set(name, samples);
    }
  }

  /**
   * Counts a second over the last ten; 0 where too little is known.
   *
   * @param {string} name
   */
  of(name) {
    const samples = this.#samples.get(name) ?? [];
    const [first, last] = [samples[0], samples.at(-1)];
    if (!first || !last || last.ms <= first.ms) return 0;
    return Math.max(0, ((last.count - first.count) * 1000) / (last.ms - first.ms));
  }
}
