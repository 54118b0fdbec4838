/**
 * Speeds are means over this time: long enough not to jump with every shard, short enough to follow nodes that join.
 */
const windowMs = 10_000;
/** Results are summed over this time, so that a fast job keeps no more than forty sums. */
const stepMs = 250;

export interface Speed {
  pixelsPerSecond: number;
  shardsPerSecond: number;
}

/** How fast a job goes now, from when its results came. Times are of one clock that never goes back. */
export class JobSpeed {
  #beganMs: number | undefined;
  #sums: { ms: number; pixels: number; shards: number }[] = [];
  #hasEnded = false;

  /** The first shard is leased; further calls change nothing. */
  begin(ms: number): void {
    this.#beganMs ??= ms;
  }

  /** A shard's results are merged. Does nothing for a job that has ended. */
  count(ms: number, pixels: number): void {
    if (this.#hasEnded) return;
    const last = this.#sums.at(-1);
    if (last && ms - last.ms < stepMs) {
      last.pixels += pixels;
      last.shards++;
    } else this.#sums.push({ ms, pixels, shards: 1 });
    this.#forgetBefore(ms - windowMs);
  }

  /** The mean of the last ten seconds, or since the beginning; undefined if nothing was merged in that time. */
  at(ms: number): Speed | undefined {
    this.#forgetBefore(ms - windowMs);
    const seconds = Math.min(windowMs, ms - (this.#beganMs ?? ms)) / 1000;
    if (this.#sums.length === 0 || seconds <= 0) return undefined;
    const [pixels, shards] = [sum(this.#sums.map((one) => one.pixels)), sum(this.#sums.map((one) => one.shards))];
    return { pixelsPerSecond: pixels / seconds, shardsPerSecond: shards / seconds };
  }

  /** The job has ended, and has no speed any more. */
  end(): void {
    this.#hasEnded = true;
    this.#sums = [];
  }

  #forgetBefore(ms: number): void {
    const kept = this.#sums.findIndex((one) => one.ms > ms);
    this.#sums.splice(0, kept < 0 ? this.#sums.length : kept);
  }
}

const sum = (values: readonly number[]): number => values.reduce((all, one) => all + one, 0);
