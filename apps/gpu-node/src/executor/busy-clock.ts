import type { DeviceKind } from '../devices/device.ts';
import { type Binding, bindingNow, bindings, type UnderWay } from './binding.ts';

/** What a node is at, as the numbers of what is under way. */
export type Activity = keyof UnderWay;
const activities = [
  'network',
  'read',
  'decode',
  'device',
  'encode',
  'part',
  'shard',
] as const satisfies readonly Activity[];

/** What a node is busy with, as ShardCompleted.busy_seconds names it; `read`: from a disk or a server. */
export const busyWith = ['read', 'decode', 'device', 'encode', 'shard'] as const;
export type Busy = (typeof busyWith)[number];

export interface BusySeconds {
  /** In which at least one shard was at it; `device`: in which the device was at work by its own clock. */
  busy: Record<Busy, number>;
  /** In which it was what all behind it waited for; they add up to the time. */
  binding: Record<Binding, number>;
}

/**
 * Sums the seconds in which a node is at something for at least one shard, however many they are: stages of several
 * shards overlap, and the sum of their seconds does not tell how long anything else waited for them. What did is told
 * by what binds.
 */
export class BusyClock {
  readonly #nowMs: () => number;
  readonly #kind: DeviceKind;
  readonly #whole: BusyClock | undefined;
  readonly #underWay: UnderWay = { network: 0, read: 0, decode: 0, device: 0, encode: 0, part: 0, shard: 0 };
  #lookedMs: number;
  #seconds = none();

  /** `nowMs` never goes back; `kind` is the device's. What is under way is so on `whole` as well. */
  constructor(nowMs: () => number, kind: DeviceKind, whole?: BusyClock) {
    this.#nowMs = nowMs;
    this.#kind = kind;
    this.#whole = whole;
    this.#lookedMs = nowMs();
  }

  /** Whether nothing is under way. */
  get isIdle(): boolean {
    return activities.every((activity) => this.#underWay[activity] === 0);
  }

  begin(activity: Activity): void {
    this.#look();
    this.#underWay[activity]++;
    this.#whole?.begin(activity);
  }

  end(activity: Activity): void {
    this.#look();
    this.#underWay[activity]--;
    this.#whole?.end(activity);
  }

  /**
   * Adds seconds that the clock of the device tells; those of a CPU are of each thread, and count as far as it has
   * batches.
   */
  addDevice(seconds: number): void {
    if (this.#kind !== 'cpu') this.#seconds.busy.device += seconds;
    this.#whole?.addDevice(seconds);
  }

  /** Adds seconds in which a thread was at work on parts, which shards wait for that are filled meanwhile. */
  addEncoded(seconds: number): void {
    this.#seconds.busy.encode += seconds;
    this.#whole?.addEncoded(seconds);
  }

  /** The seconds since it was last asked, those of what is under way included. */
  take(): BusySeconds {
    this.#look();
    const taken = this.#seconds;
    this.#seconds = none();
    return taken;
  }

  /** Counts the time since something began or ended. */
  #look(): void {
    const nowMs = this.#nowMs();
    const seconds = (nowMs - this.#lookedMs) / 1000;
    this.#lookedMs = nowMs;
    if (seconds <= 0) return;
    const { busy, binding } = this.#seconds;
    const now = this.#underWay;
    if (now.read + now.network > 0) busy.read += seconds;
    if (now.decode > 0) busy.decode += seconds;
    if (now.encode > 0) busy.encode += seconds;
    if (now.shard > 0) busy.shard += seconds;
    if (now.device > 0 && this.#kind === 'cpu') busy.device += seconds;
    for (const [bound, part] of bindingNow(now, this.#kind !== 'gpu')) binding[bound] += part * seconds;
  }
}

/** A clock for each job that has a shard under way, and one for all of them. */
export class BusyClocks {
  /** The clock of the node, whatever the jobs. */
  readonly whole: BusyClock;
  readonly #nowMs: () => number;
  readonly #kind: DeviceKind;
  readonly #clocks = new Map<string, BusyClock>();

  constructor(nowMs: () => number, kind: DeviceKind) {
    this.#nowMs = nowMs;
    this.#kind = kind;
    this.whole = new BusyClock(nowMs, kind);
  }

  /** Does `work`, which is a shard of the job. */
  async during<T>(jobId: string, work: (clock: BusyClock) => Promise<T>): Promise<T> {
    const clock = this.#clocks.get(jobId) ?? new BusyClock(this.#nowMs, this.#kind, this.whole);
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

/**
 * As ShardCompleted.busy_seconds has them. A job's node is idle where it has no shard, which no answer of it can tell.
 */
export function busyMessage({ busy, binding }: BusySeconds): Record<string, number> {
  const binds = bindings.filter((name) => name !== 'idle').map((name) => [`${name}_binds`, binding[name]]);
  return { ...busy, ...Object.fromEntries(binds) };
}

const none = (): BusySeconds => ({
  busy: { read: 0, decode: 0, device: 0, encode: 0, shard: 0 },
  binding: Object.fromEntries(bindings.map((binding) => [binding, 0])) as Record<Binding, number>,
});
