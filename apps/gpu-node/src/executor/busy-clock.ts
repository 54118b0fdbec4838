/** What a node is busy with, as ShardCompleted.busy_seconds names it. */
export const activities = ['read', 'decode', 'device', 'encode', 'shard'] as const;
export type Activity = (typeof activities)[number];

/**
 * Sums the seconds in which a node is at something for at least one shard, however many they are: stages of several shards
 * overlap, and the sum of their seconds does not tell how long anything else waited for them.
 */
export class BusyClock {
  readonly #nowMs: () => number;
  readonly #underWay = new Map<Activity, { count: number; sinceMs: number }>();
  #seconds = none();

  /** `nowMs` never goes back. */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Whether nothing is under way. */
  get isIdle(): boolean {
    return this.#underWay.size === 0;
  }

  begin(activity: Activity): void {
    const one = this.#underWay.get(activity);
    if (one) one.count++;
    else this.#underWay.set(activity, { count: 1, sinceMs: this.#nowMs() });
  }

  end(activity: Activity): void {
    const one = this.#underWay.get(activity);
    if (!one || --one.count > 0) return;
    this.#underWay.delete(activity);
    this.add(activity, (this.#nowMs() - one.sinceMs) / 1000);
  }

  /** Adds seconds that another clock tells. */
  add(activity: Activity, seconds: number): void {
    this.#seconds[activity] += seconds;
  }

  /** The seconds since it was last asked, those of what is under way included. */
  take(): Record<Activity, number> {
    const nowMs = this.#nowMs();
    for (const [activity, one] of this.#underWay) {
      this.add(activity, (nowMs - one.sinceMs) / 1000);
      one.sinceMs = nowMs;
    }
    const taken = this.#seconds;
    this.#seconds = none();
    return taken;
  }
}

/** A clock for each job that has a shard under way. */
export class BusyClocks {
  readonly #nowMs: () => number;
  readonly #clocks = new Map<string, BusyClock>();

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Does `work`, which is a shard of the job. */
  async during<T>(jobId: string, work: (clock: BusyClock) => Promise<T>): Promise<T> {
    const clock = this.#clocks.get(jobId) ?? new BusyClock(this.#nowMs);
    this.#clocks.set(jobId, clock);
    clock.begin('shard');
    try {
      return await work(clock);
    } finally {
      clock.end('shard');
      if (clock.isIdle) this.#clocks.delete(jobId);
    }
  }
}

const none = (): Record<Activity, number> => ({ read: 0, decode: 0, device: 0, encode: 0, shard: 0 });
