/**
 * Hands out bytes up to a limit, first come first served. What is larger than the limit gets through when nothing else
 * is out, so that it is slow rather than stuck.
 */
export class ByteBudget {
  readonly limitBytes: number;
  #usedBytes = 0;
  #waiting: { bytes: number; grant: () => void }[] = [];
  readonly #reclaim: ((bytes: number) => void) | undefined;

  /** `reclaim` is called when that many bytes are wanted and not there; it may `release` some. */
  constructor(limitBytes: number, reclaim?: (bytes: number) => void) {
    this.limitBytes = limitBytes;
    this.#reclaim = reclaim;
  }

  get usedBytes(): number {
    return this.#usedBytes;
  }

  acquire(bytes: number): Promise<void> {
    return new Promise((grant) => {
      this.#waiting.push({ bytes, grant });
      this.#serve();
    });
  }

  release(bytes: number): void {
    this.#usedBytes -= bytes;
    this.#serve();
  }

  /** Lets those who wait look again, e.g. after something became reclaimable. */
  retry(): void {
    this.#serve();
  }

  #serving = false;

  #serve(): void {
    // `reclaim` releases, and comes back here.
    if (this.#serving) return;
    this.#serving = true;
    for (let next = this.#waiting[0]; next; next = this.#waiting[0]) {
      if (!this.#fits(next.bytes)) this.#reclaim?.(next.bytes);
      if (!this.#fits(next.bytes)) break;
      this.#usedBytes += next.bytes;
      this.#waiting.shift();
      next.grant();
    }
    this.#serving = false;
  }

  #fits(bytes: number): boolean {
    return this.#usedBytes === 0 || this.#usedBytes + bytes <= this.limitBytes;
  }
}
