import type { FactPlace } from './fact-place.ts';

/** How many facts are cached: callers read sources in order. */
const most = 4;

/** Reads facts from their places, and caches the results of `read` for the last few. */
export class HeldFacts<Read> {
  readonly #read: (place: FactPlace) => Read;
  /** The most recently used fact is last. */
  readonly #held = new Map<string, Read>();

  /** `read` blocks on the disk, and may throw. */
  constructor(read: (place: FactPlace) => Read) {
    this.#read = read;
  }

  at(place: FactPlace): Read {
    const key = `${place.epoch} ${place.offset}`;
    const held = this.#held.get(key) ?? this.#read(place);
    this.#held.delete(key);
    this.#held.set(key, held);
    const [oldest] = this.#held.keys();
    if (this.#held.size > most) this.#held.delete(oldest!);
    return held;
  }
}
