/** How long a reason is kept: the cause may change while the library's words for it stay the same. */
const validForMs = 60_000;

interface Reason {
  words: string;
  sentence: string;
  foundMs: number;
}

/**
 * Why no connection came about, by address. Finding the reason takes a connection or two, and a node that dials on may
 * fail in the same way for hours.
 */
export class RememberedReasons {
  readonly #byAddress = new Map<string, Reason>();
  readonly #find: (address: string) => Promise<string>;
  readonly #nowMs: () => number;

  constructor(find: (address: string) => Promise<string>, nowMs: () => number) {
    this.#find = find;
    this.#nowMs = nowMs;
  }

  /**
   * The sentence for a dial that failed with these words of the library. Looks again if the words differ, or the last
   * look is too old.
   */
  async reasonOf(address: string, words: string): Promise<string> {
    const known = this.#byAddress.get(address);
    if (known?.words === words && this.#nowMs() - known.foundMs < validForMs) return known.sentence;
    const sentence = await this.#find(address);
    this.#byAddress.set(address, { words, sentence, foundMs: this.#nowMs() });
    return sentence;
  }

  /** Forgets the reason: a coordinator was heard there, so the next failure is a new one. */
  forget(address: string): void {
    this.#byAddress.delete(address);
  }
}
