import type { DeviceKind } from '../devices/device.ts';
import { type Binding, bindingNow, bindings, type UnderWay } from './binding.ts';

/** Counts of what is under way on a node. */
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
  /**
   * Seconds in which at least one shard was in this stage; `device`: in which the device was at work by its own clock.
   */
  busy: Record<Busy, number>;
  /** Seconds in which it was the bottleneck; all kinds add up to the elapsed time. */
  binding: Record<Binding, number>;
}

/**
 * Sums, by stage, the seconds in which at least one shard was in it. The stages of several shards overlap, so the sum
 * of their seconds would not show what the node waited for; the seconds of the bottleneck do.
 */
export class BusyClock {
  readonly #nowMs: () => number;
  readonly #kind: DeviceKind;
  readonly #whole: BusyClock | undefined;
  readonly #underWay: UnderWay = { network: 0, read: 0, decode: 0, device: 0, encode: 0, part: 0, shard: 0 };
  #lookedMs: number;
  #seconds = none();

  /** `nowMs` never goes back; `kind` is the device's. Everything that is counted here is counted on `whole` too. */
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
   * Adds seconds by the clock of the device. A CPU reports seconds of each thread, which count only while it has
   * batches.
   */
  addDevice(seconds: number): void {
    if (this.#kind !== 'cpu') this.#seconds.busy.device += seconds;
    this.#whole?.addDevice(seconds);
  }

  /** Adds seconds in which a thread worked on parts. */
  addEncoded(seconds: number): void {
    this.#seconds.busy.encode += seconds;
    this.#whole?.addEncoded(seconds);
  }

  /** The seconds since the last call, including what is under way. */
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
  /** The clock of the node, for all jobs. */
  readonly whole: BusyClock;
  readonly #nowMs: () => number;
  readonly #kind: DeviceKind;
  readonly #clocks = new Map<string, BusyClock>();

  constructor(nowMs: () => number, kind: DeviceKind) {
    this.#nowMs = nowMs;
    this.#kind = kind;
    this.whole = new BusyClock(nowMs, kind);
  }

  /** Does `work` for a shard of the job. */
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
 * Seconds as in ShardCompleted.busy_seconds. Idle time is left out: no answer covers the time in which a node has no
 * shard of the job.
 */
export function busyMessage({ busy, binding }: BusySeconds): Record<string, number> {
  const binds = bindings.filter((name) => name !== 'idle').map((name) => [`${name}_binds`, binding[name]]);
  return { ...busy, ...Object.fromEntries(binds) };
}

const none = (): BusySeconds => ({
  busy: { read: 0, decode: 0, device: 0, encode: 0, shard: 0 },
  binding: Object.fromEntries(bindings.map((binding) => [binding, 0])) as Record<Binding, number>,
});
