/** Weight that older shards keep with each new one: about the last ten count. */
const memory = 0.9;

/**
 * The rate of a node, from the last shards that it computed: bytes of cost over the time since the shard before, or
 * since the lease if that is later. So leases that wait for each other inside the node do not count twice.
 */
export class NodeRate {
  #bytes = 0;
  #ms = 0;
  #lastMs = Number.NEGATIVE_INFINITY;

  /** Takes a shard of that cost, leased at `leasedAtMs`. `computedMs` may be before that of the last call. */
  add(costBytes: number, leasedAtMs: number, computedMs: number): void {
    this.#bytes = this.#bytes * memory + costBytes;
    this.#ms = this.#ms * memory + Math.max(0, computedMs - Math.max(leasedAtMs, this.#lastMs));
    this.#lastMs = Math.max(this.#lastMs, computedMs);
  }

  /** Undefined before a shard that took any time. */
  get bytesPerMs(): number | undefined {
    return this.#ms > 0 ? this.#bytes / this.#ms : undefined;
  }
}
