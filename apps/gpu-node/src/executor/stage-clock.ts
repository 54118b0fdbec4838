/** Where a shard's time goes; the order is that of the work. */
export const stages = ['read', 'decode', 'upload', 'compute', 'readback', 'encode'] as const;
export type Stage = (typeof stages)[number];

/** Sums the seconds that one shard spends in each stage. */
export class StageClock {
  readonly seconds: Record<Stage, number> = { read: 0, decode: 0, upload: 0, compute: 0, readback: 0, encode: 0 };
  readonly #nowMs: () => number;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Counts the time until `work` settles. */
  async time<T>(stage: Stage, work: () => Promise<T>): Promise<T> {
    const startedMs = this.#nowMs();
    try {
      return await work();
    } finally {
      this.seconds[stage] += (this.#nowMs() - startedMs) / 1000;
    }
  }

  add(stage: Stage, seconds: number): void {
    this.seconds[stage] += seconds;
  }
}
