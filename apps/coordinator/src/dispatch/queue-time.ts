/** Sums the seconds in which shards of a job waited for a node: an idle node in that time waits for the coordinator. */
export class QueueTime {
  #lookedMs: number | undefined;
  #isQueued = false;
  #seconds = 0;

  /** From now on this many shards wait; to be called whenever leases are given or answered. `nowMs` never goes back. */
  look(nowMs: number, shards: number): void {
    if (this.#isQueued && this.#lookedMs !== undefined) this.#seconds += (nowMs - this.#lookedMs) / 1000;
    this.#lookedMs = nowMs;
    this.#isQueued = shards > 0;
  }

  /** The seconds since the last call. */
  take(): number {
    const seconds = this.#seconds;
    this.#seconds = 0;
    return seconds;
  }
}
