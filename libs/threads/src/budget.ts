/**
 * Gives out bytes, or anything countable, up to a limit, first come first served. An amount above the limit is given
 * out when nothing else is, so that its caller is slow rather than stuck.
 */
export class Budget {
  readonly limit: number;
  #used = 0;
  #serving = false;
  #waiting: { amount: number; grant: () => void }[] = [];
  readonly #reclaim: ((amount: number) => void) | undefined;

  /** `reclaim` is called with an amount that is wanted but not free; it may `release` some. */
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

  /** Lets waiting callers check again: after a release, or because something became reclaimable. */
  retry(): void {
    // `reclaim` may release, which calls this again.
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
