/** Ratio of neighbouring bounds: a quantile is off by a tenth at most, too little for a chart to show. */
const growth = 1.2;
const leastSeconds = 1e-5;
const mostBins = 128;

export interface DurationSummary {
  count: number;
  /** Seconds. */
  mean: number;
  p50: number;
  p95: number;
  max: number;
}

/** Durations as they are kept; `bins` ends with the last that is not empty. */
export interface StoredDurations {
  count: number;
  sum: number;
  max: number;
  bins: readonly number[];
}

/** A histogram of durations in growing bins: from 10 µs to 38 hours in 128 numbers. */
export class StageDurations {
  readonly #bins = new Uint32Array(mostBins);
  #count = 0;
  #sum = 0;
  #max = 0;

  /** Adds a duration in seconds; ignores other values. */
  add(seconds: number): void {
    if (!Number.isFinite(seconds) || seconds < 0) return;
    this.#bins[binOf(seconds)]!++;
    this.#count++;
    this.#sum += seconds;
    this.#max = Math.max(this.#max, seconds);
  }

  summary(): DurationSummary {
    const mean = this.#count > 0 ? this.#sum / this.#count : 0;
    return { count: this.#count, mean, p50: this.#quantile(0.5), p95: this.#quantile(0.95), max: this.#max };
  }

  get stored(): StoredDurations {
    const last = this.#bins.findLastIndex((count) => count > 0);
    return { count: this.#count, sum: this.#sum, max: this.#max, bins: [...this.#bins.subarray(0, last + 1)] };
  }

  static from({ count, sum, max, bins }: StoredDurations): StageDurations {
    const durations = new StageDurations();
    durations.#bins.set(bins.slice(0, mostBins));
    durations.#count = count;
    durations.#sum = sum;
    durations.#max = max;
    return durations;
  }

  /** A quantile: the middle of the bin in which that share of all durations is reached; 0 before the first. */
  #quantile(share: number): number {
    let left = Math.max(1, Math.ceil(this.#count * share));
    const bin = this.#bins.findIndex((count) => {
      left -= count;
      return left <= 0;
    });
    return this.#count === 0 ? 0 : Math.min(this.#max, leastSeconds * growth ** (bin + 0.5));
  }
}

function binOf(seconds: number): number {
  const bin = Math.floor(Math.log(seconds / leastSeconds) / Math.log(growth));
  return Math.min(mostBins - 1, Math.max(0, bin));
}
