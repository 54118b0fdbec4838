import type { Probe, Sight } from '@halogrid/proto';
import type { Shard, SourceError } from '../job/shard.ts';
import { type Blindness, cannotWrite, type Outage, sightOf, unreadOf } from './simulated-files.ts';
import type { VirtualClock } from './virtual-clock.ts';

/** What a simulated node can read and write at the moment. */
export class NodeStorage {
  readonly #blind: readonly Blindness[];
  readonly #clock: VirtualClock;
  readonly #outages: readonly Outage[];
  #awayUntilMs = 0;

  /** `outages` may grow. */
  constructor(blind: readonly Blindness[], clock: VirtualClock, outages: readonly Outage[]) {
    this.#blind = blind;
    this.#outages = outages;
    this.#clock = clock;
  }

  /** Sources cannot be read for a while. */
  lose(ms: number): void {
    this.#awayUntilMs = this.#clock.monotonicMs() + ms;
  }

  sight(probe: Probe): Sight {
    return sightOf(this.#blindness(), probe, this.#clock.monotonicMs());
  }

  /** What it could not have of a shard's sources. */
  unread(shard: Shard): SourceError[] {
    return unreadOf(this.#blindness(), shard, this.#clock.monotonicMs());
  }

  cannotWrite(scratch: string): boolean {
    return cannotWrite(this.#blindness(), scratch, this.#clock.monotonicMs());
  }

  /** Also while it is away. */
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
