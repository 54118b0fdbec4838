/**
 * Keeps the best `size` items, offered in any order and in any number of parts: merging what several have kept gives
 * the same as offering everything to one. It is a heap whose first item is the worst that is kept.
 */
export class Best<Item> {
  readonly #size: number;
  readonly #compare: (a: Item, b: Item) => number;
  readonly #heap: Item[] = [];

  /**
   * `size` is at least 1; `compare` is below 0 if its first item is the better one, and orders any two different items.
   */
  constructor(size: number, compare: (a: Item, b: Item) => number) {
    this.#size = size;
    this.#compare = compare;
  }

  /** The item that a better one would replace; undefined while there is room. */
  get worst(): Item | undefined {
    return this.#heap.length === this.#size ? this.#heap[0] : undefined;
  }

  /** Keeps the item if it is among the best so far, and returns whether it is. */
  offer(item: Item): boolean {
    if (this.#heap.length < this.#size) {
      this.#heap.push(item);
      this.#rise(this.#heap.length - 1);
      return true;
    }
    if (this.#compare(item, this.#heap[0]!) >= 0) return false;
    this.#heap[0] = item;
    this.#sink();
    return true;
  }

  /** The kept items, the best first. */
  sorted(): Item[] {
    return this.#heap.toSorted(this.#compare);
  }

  #rise(from: number): void {
    for (let at = from; at > 0; ) {
      const parent = (at - 1) >> 1;
      if (this.#compare(this.#heap[at]!, this.#heap[parent]!) <= 0) return;
      this.#swap(at, parent);
      at = parent;
    }
  }

  #sink(): void {
    for (let at = 0; ; ) {
      const [left, right] = [2 * at + 1, 2 * at + 2];
      if (left >= this.#heap.length) return;
      const isRight = right < this.#heap.length && this.#compare(this.#heap[right]!, this.#heap[left]!) > 0;
      const worse = isRight ? right : left;
      if (this.#compare(this.#heap[worse]!, this.#heap[at]!) <= 0) return;
      this.#swap(at, worse);
      at = worse;
    }
  }

  #swap(a: number, b: number): void {
    [this.#heap[a], this.#heap[b]] = [this.#heap[b]!, this.#heap[a]!];
  }
}
