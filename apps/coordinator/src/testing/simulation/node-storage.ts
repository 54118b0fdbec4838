import type { Shard, SourceError } from '@halogrid/jobs/shard';
import type { Probe, Sight } from '@halogrid/proto';
import {
  type Blindness,
  cannotWrite,
  type FullDisk,
  isFull,
  noRoom,
  type Outage,
  sightOf,
  unreadOf,
} from './simulated-files.ts';
import type { VirtualClock } from './virtual-clock.ts';

/** Where a simulated node can read and write at the moment. */
export class NodeStorage {
  readonly #blind: readonly Blindness[];
  readonly #clock: VirtualClock;
  readonly #outages: readonly Outage[];
  readonly #full: readonly FullDisk[];
  #awayUntilMs = 0;

  /** `outages` and `full` may grow. */
  constructor(
    blind: readonly Blindness[],
    clock: VirtualClock,
    { outages, full }: { outages: readonly Outage[]; full: readonly FullDisk[] },
  ) {
    this.#full = full;
    this.#blind = blind;
    this.#outages = outages;
    this.#clock = clock;
  }

  /** Sources cannot be read for a while. */
  lose(ms: number): void {
    this.#awayUntilMs = this.#clock.monotonicMs() + ms;
  }

  sight(probe: Probe): Sight {
    const sight = sightOf(this.#blindness(), probe, this.#clock.monotonicMs());
    return { ...sight, error: probe.write === '' ? '' : (this.whyNotWritten(probe.write) ?? '') };
  }

  /** Errors of the sources of a shard that it could not read. */
  unread(shard: Shard): SourceError[] {
    return unreadOf(this.#blindness(), shard, this.#clock.monotonicMs());
  }

  /** Why it cannot write results there; undefined if it can. */
  whyNotWritten(scratch: string): string | undefined {
    const nowMs = this.#clock.monotonicMs();
    if (cannotWrite(this.#blindness(), scratch, nowMs)) return 'The path lies outside of the data roots';
    return isFull(this.#full, scratch, nowMs) ? noRoom().message : undefined;
  }

  /** Including hosts that are away. */
  #blindness(): readonly Blindness[] {
    const away = { below: 'file:///in/', fromMs: 0, untilMs: this.#awayUntilMs, finds: 'nothing' } as const;
    const hosts = this.#outages.map(({ place, ...when }) => ({
      below: `${place}/`,
      finds: 'nothing' as const,
      ...when,
    }));
    return [...this.#blind, away, ...hosts];
  }
}
