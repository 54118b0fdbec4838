/** Seconds that count in full; those before count ever less. */
const rememberedSeconds = 8;

/** What became of some work. */
export interface WorkDone {
  /** How much was done of it; of what was not, nobody learns anything. */
  done: number;
  /** What that took by the decoder's own clock; by ours unless given. */
  seconds?: number;
}

/** How much a decoder does while it has something to do, and how much it has. */
export class WorkRate {
  readonly #nowMs: () => number;
  #queued = 0;
  #underWay = 0;
  #sinceMs = 0;
  /** Seconds by our clock in which anything was under way, since the last end. */
  #busy = 0;
  #done: number;
  #seconds: number;

  /** `rate`: one that is known from before. `nowMs` never goes back. */
  constructor(nowMs: () => number, rate?: number) {
    this.#nowMs = nowMs;
    this.#done = rate ?? 0;
    this.#seconds = rate === undefined ? 0 : 1;
  }

  get queued(): number {
    return this.#queued;
  }

  /** Per second; undefined before anything was done. */
  get rate(): number | undefined {
    return this.#seconds > 0 && this.#done > 0 ? this.#done / this.#seconds : undefined;
  }

  begin(amount: number): void {
    this.#count();
    this.#underWay++;
    this.#queued += amount;
  }

  /** `amount` of what was begun is no longer queued. */
  end(amount: number, { done, seconds }: WorkDone): void {
    this.#count();
    this.#underWay--;
    this.#queued -= amount;
    if (done === 0) return;
    this.#done += done;
    this.#seconds += seconds || this.#busy;
    this.#busy = 0;
    if (this.#seconds < rememberedSeconds) return;
    this.#done /= 2;
    this.#seconds /= 2;
  }

  #count(): void {
    const nowMs = this.#nowMs();
    if (this.#underWay > 0) this.#busy += (nowMs - this.#sinceMs) / 1000;
    this.#sinceMs = nowMs;
  }
}
