/** Seconds of a job, as JobTimes.busy_seconds names them. */
export interface QueueSeconds {
  /** Shards waited for a node. */
  queued: number;
  /** Shards waited for a node while nodes had shards of other jobs. */
  others: number;
}

/**
 * Sums the seconds in which shards of a job waited for a node. A node without shards of the job is at other jobs in
 * that time, or waits for the coordinator.
 */
export class QueueTime {
  #lookedMs: number | undefined;
  #isQueued = false;
  #hasOthers = false;
  #seconds: QueueSeconds = { queued: 0, others: 0 };

  /**
   * From now on shards wait or do not, beside shards of other jobs at nodes or not; to be called whenever leases are
   * given or answered. `nowMs` never decreases.
   */
  look(nowMs: number, isQueued: boolean, hasOthers: boolean): void {
    if (this.#isQueued && this.#lookedMs !== undefined) {
      const seconds = (nowMs - this.#lookedMs) / 1000;
      this.#seconds.queued += seconds;
      if (this.#hasOthers) this.#seconds.others += seconds;
    }
    this.#lookedMs = nowMs;
    this.#isQueued = isQueued;
    this.#hasOthers = hasOthers;
  }

  /** The seconds since the last call. */
  take(): QueueSeconds {
    const seconds = this.#seconds;
    this.#seconds = { queued: 0, others: 0 };
    return seconds;
  }
}
