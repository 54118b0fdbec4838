/**
 * How many entries at the front are searched for an accepted one. Bounded, so that taking is O(1) however many shards a
 * bad node has put back; a shard further behind is reached when those before it are taken by other nodes.
 */
export const lookahead = 64;

/** First in, first out, except that the taker may pass over a few entries at the front. All operations are O(1). */
export class ShardQueue<T> {
  #entries: (T | undefined)[] = [];
  #head = 0;

  get size(): number {
    return this.#entries.length - this.#head;
  }

  push(entry: T): void {
    this.#entries.push(entry);
  }

  /** The first acceptable entry near the front. It stays in the queue. */
  find(accepts: (entry: T) => boolean): T | undefined {
    const end = Math.min(this.#entries.length, this.#head + lookahead);
    for (let i = this.#head; i < end; i++) {
      const entry = this.#entries[i]!;
      if (accepts(entry)) return entry;
    }
    return undefined;
  }

  /** Removes an entry that `find` returned. */
  remove(entry: T): void {
    let i = this.#head;
    while (this.#entries[i] !== entry) i++;
    for (; i > this.#head; i--) this.#entries[i] = this.#entries[i - 1];
    this.#entries[this.#head++] = undefined;
    if (this.#head >= 1024 && this.#head * 2 >= this.#entries.length) {
      this.#entries = this.#entries.slice(this.#head);
      this.#head = 0;
    }
  }
}
