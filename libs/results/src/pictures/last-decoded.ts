/** How long pixels are kept that nobody asks for, in milliseconds. */
const keptMs = 60_000;

/**
 * The pixels of the image that was decoded last, for parts of it that are asked for at once or soon after. Images whose
 * parts cannot be decoded alone are decoded once for all parts that a person looks at.
 */
export class LastDecoded<Pixels> {
  #last: { key: string; pixels: Promise<Pixels>; end: NodeJS.Timeout } | undefined;

  /** The pixels of the image that `key` names with its version; `decode` is called unless it is the last one. */
  get(key: string, decode: () => Promise<Pixels>): Promise<Pixels> {
    const isLast = this.#last?.key === key;
    const pixels = isLast ? this.#last!.pixels : decode();
    clearTimeout(this.#last?.end);
    const end = setTimeout(() => this.#forget(pixels), keptMs).unref();
    this.#last = { key, pixels, end };
    if (!isLast) pixels.catch(() => this.#forget(pixels));
    return pixels;
  }

  #forget(pixels: Promise<Pixels>): void {
    if (this.#last?.pixels !== pixels) return;
    clearTimeout(this.#last.end);
    this.#last = undefined;
  }
}
