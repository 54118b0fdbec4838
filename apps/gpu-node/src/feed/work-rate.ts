/** The last seconds, which count in full; earlier ones count less and less. */
const rememberedSeconds = 8;

/** The outcome of a piece of work. */
export interface WorkDone {
  /** The amount that was finished; the rest says nothing about the rate. */
  done: number;
  /** The seconds by the decoder's own clock. Default: measured here. */
  seconds?: number;
}

/** Measures the rate of a decoder while it has work, and counts its unfinished work. */
export class WorkRate {
  readonly #nowMs: () => number;
  #queued = 0;
  #underWay = 0;
  #sinceMs = 0;
  /** Seconds, measured here, in which anything was under way since the last end. */
  #busy = 0;
  #done: number;
  #seconds: number;

  /** `rate`: the rate of an earlier process, if known. `nowMs` never goes back. */
  constructor(nowMs: () => number, rate?: number) {
    this.#nowMs = nowMs;
    this.#done = rate ?? 0;
    this.#seconds = rate === undefined ? 0 : 1;
  }

  get queued(): number {
    return this.#queued;
  }

  /** Amount per second; undefined before anything was finished. */
  get rate(): number | undefined {
    return this.#seconds > 0 && this.#done > 0 ? this.#done / this.#seconds : undefined;
  }

  begin(amount: number): void {
    this.#count();
    this.#underWay++;
    this.#queued += amount;
  }

  /** A piece of work has ended: `amount` of it was queued, `done` of it was finished. */
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
