import type { StageSpan } from '@halogrid/proto';

/** Notes when a shard was in each stage, from the first moment to the last. */
export class StageSpans {
  readonly #nowMs: () => number;
  readonly #beganMs: number;
  readonly #spans = new Map<string, StageSpan>();

  /** Begins with the shard, now. `nowMs` never goes back. */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
    this.#beganMs = nowMs();
  }

  /** Notes that the shard was in `stage` from `sinceMs`, by the same clock, until now. */
  add(stage: string, sinceMs: number): void {
    const [from, to] = [(sinceMs - this.#beganMs) / 1000, (this.#nowMs() - this.#beganMs) / 1000];
    const known = this.#spans.get(stage);
    if (!known) this.#spans.set(stage, { stage, from, to });
    else {
      known.from = Math.min(known.from, from);
      known.to = to;
    }
  }

  /** The span of the whole shard, then the spans of its stages. */
  end(): StageSpan[] {
    const shard = { stage: 'shard', from: 0, to: (this.#nowMs() - this.#beganMs) / 1000 };
    return [shard, ...this.#spans.values()];
  }
}
