/** Parts of files, those that were asked for last, so many at most. Whoever asks for one that is on its way gets the same. */
export class BlockCache {
  readonly #maxBlocks: number;
  /** The one that was asked for longest ago comes first. */
  readonly #blocks = new Map<string, Promise<Uint8Array>>();

  constructor(maxBlocks: number) {
    this.#maxBlocks = maxBlocks;
  }

  /** What `load` gives for the key. A failure is told to those who wait for it, and not kept. */
  get(key: string, load: () => Promise<Uint8Array>): Promise<Uint8Array> {
    const known = this.#blocks.get(key);
    const block = known ?? load();
    if (known) this.#blocks.delete(key);
    else {
      block.catch(() => {
        if (this.#blocks.get(key) === block) this.#blocks.delete(key);
      });
    }
    this.#blocks.set(key, block);
    if (this.#blocks.size > this.#maxBlocks) this.#blocks.delete(this.#blocks.keys().next().value!);
    return block;
  }

  clear(): void {
    this.#blocks.clear();
  }
}
