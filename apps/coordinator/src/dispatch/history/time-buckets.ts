/** The most buckets: a chart of 600 pixels cannot show more, and each takes 8 bytes. */
const mostBuckets = 240;

/** Buckets as they are kept: rounded sums. */
export interface StoredBuckets {
  widthMs: number;
  sums: readonly number[];
}

/**
 * Amounts over time in bounded memory: buckets of half a second, whose width doubles whenever there are too many. So no
 * amount is lost, and the whole time of a job is covered.
 */
export class TimeBuckets {
  #widthMs: number;
  #sums: number[] = [];

  constructor(widthMs = 500) {
    this.#widthMs = widthMs;
  }

  /** Milliseconds of a bucket. */
  get widthMs(): number {
    return this.#widthMs;
  }

  /**
   * Spreads an amount evenly from `fromMs` to `toMs`, which count from the beginning; amounts before the beginning go
   * to the first bucket.
   */
  add(fromMs: number, toMs: number, amount: number): void {
    const [from, to] = [Math.max(0, fromMs), Math.max(0, toMs)];
    while (to >= this.#widthMs * mostBuckets) this.#halve();
    const [first, last] = [this.#bucketOf(from), this.#bucketOf(to)];
    for (let bucket = Math.min(first, last); bucket <= last; bucket++) {
      const begin = Math.max(from, bucket * this.#widthMs);
      const end = Math.min(to, (bucket + 1) * this.#widthMs);
      const share = to > from ? (end - begin) / (to - from) : 1;
      this.#sums[bucket] = (this.#sums[bucket] ?? 0) + amount * share;
    }
  }

  /** The sum of each bucket up to `nowMs`, in buckets of `widthMs`: the own width, or a power of two times it. */
  sums(nowMs: number, widthMs = this.#widthMs): number[] {
    const merged = Math.round(widthMs / this.#widthMs);
    const length = Math.min(mostBuckets, Math.floor(Math.max(0, nowMs) / widthMs) + 1);
    return Array.from({ length }, (_, i) => sumOf(this.#sums.slice(i * merged, (i + 1) * merged)));
  }

  /** The width at which the time up to `nowMs` fits into `mostBuckets` buckets. */
  widthAt(nowMs: number): number {
    let width = this.#widthMs;
    while (nowMs >= width * mostBuckets) width *= 2;
    return width;
  }

  /** The buckets for storage, at most `most` of them. */
  stored(most: number): StoredBuckets {
    let widthMs = this.#widthMs;
    while (this.#sums.length * this.#widthMs > most * widthMs) widthMs *= 2;
    const merged = widthMs / this.#widthMs;
    const length = Math.ceil(this.#sums.length / merged);
    const sums = Array.from({ length }, (_, i) => sumOf(this.#sums.slice(i * merged, (i + 1) * merged)));
    return { widthMs, sums: sums.map(Math.round) };
  }

  static from({ widthMs, sums }: StoredBuckets): TimeBuckets {
    const buckets = new TimeBuckets(widthMs);
    buckets.#sums = [...sums];
    return buckets;
  }

  #bucketOf = (ms: number): number => Math.floor(ms / this.#widthMs);

  #halve(): void {
    const length = Math.ceil(this.#sums.length / 2);
    this.#sums = Array.from({ length }, (_, i) => sumOf(this.#sums.slice(2 * i, 2 * i + 2)));
    this.#widthMs *= 2;
  }
}

/** Empty buckets are holes. */
const sumOf = (values: readonly (number | undefined)[]): number =>
  values.reduce<number>((sum, value) => sum + (value ?? 0), 0);
