/**
 * Hands out bytes, or anything that is counted, up to a limit, first come first served. What is larger than the limit
 * gets through when nothing else is out, so that it is slow rather than stuck.
 */
export class Budget {
  readonly limit: number;
  #used = 0;
  #serving = false;
  #waiting: { amount: number; grant: () => void }[] = [];
  readonly #reclaim: ((amount: number) => void) | undefined;

  /** `reclaim` is called when that much is wanted and not there; it may `release` some. */
  constructor(limit: number, reclaim?: (amount: number) => void) {
    this.limit = limit;
    this.#reclaim = reclaim;
  }

  get used(): number {
    return this.#used;
  }

  acquire(amount: number): Promise<void> {
    return new Promise((grant) => {
      this.#waiting.push({ amount, grant });
      this.retry();
    });
  }

  release(amount: number): void {
    this.#used -= amount;
    this.retry();
  }

  /** Lets those who wait look again: after a release, or because something became reclaimable. */
  retry(): void {
    // `reclaim` releases, and comes back here.
    if (this.#serving) return;
    this.#serving = true;
    for (let next = this.#waiting[0]; next; next = this.#waiting[0]) {
      if (!this.#fits(next.amount)) this.#reclaim?.(next.amount);
      if (!this.#fits(next.amount)) break;
      this.#used += next.amount;
      this.#waiting.shift();
      next.grant();
    }
    this.#serving = false;
  }

  #fits(amount: number): boolean {
    return this.#used === 0 || this.#used + amount <= this.limit;
  }
}
