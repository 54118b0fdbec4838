/**
 * Speeds are means over this time: long enough not to jump with every shard, short enough to follow nodes that join.
 */
const windowMs = 10_000;

/** Speeds of counters, from their values at some moments. */
export class Rates {
  /** @type {Map<string, { ms: number, count: number }[]>} */
  #samples = new Map();

  /**
   * Takes the values of all counters at `ms`, and forgets counters that are missing.
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
   * Counts per second over the last ten seconds; 0 if too little is known.
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
