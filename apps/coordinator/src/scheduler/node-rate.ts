/** Weight that older shards keep with each new one: about the last ten count. */
const memory = 0.9;

/**
 * The rate of a node, from its last answers: bytes of cost over the time since its last answer, or since the lease if
 * that is later. So leases that wait for each other inside the node do not count twice.
 */
export class NodeRate {
  #bytes = 0;
  #ms = 0;
  #lastAnswerMs = Number.NEGATIVE_INFINITY;

  /** Takes an answer for that cost, leased at `leasedAtMs`. */
  add(costBytes: number, leasedAtMs: number, now: number): void {
    this.#bytes = this.#bytes * memory + costBytes;
    this.#ms = this.#ms * memory + now - Math.max(leasedAtMs, this.#lastAnswerMs);
    this.#lastAnswerMs = now;
  }

  /** Undefined before an answer that took any time. */
  get bytesPerMs(): number | undefined {
    return this.#ms > 0 ? this.#bytes / this.#ms : undefined;
  }
}
