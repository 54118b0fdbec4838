import type { HistogramPlace } from './read-histograms.ts';

/** Where the histograms of each source lie in a spool: 16 bytes a source, in arrays that double. */
export class SpoolIndex {
  #offsets = new Float64Array(1024);
  /** 0 where there is none. */
  #lengths = new Uint32Array(1024);
  #checksums = new Uint32Array(1024);

  set(source: number, { offset, length, checksum }: HistogramPlace): void {
    if (source >= this.#lengths.length) this.#grow(source + 1);
    this.#offsets[source] = offset;
    this.#lengths[source] = length;
    this.#checksums[source] = checksum;
  }

  /** Throws where there is none. */
  get(source: number): HistogramPlace {
    const length = this.#lengths[source];
    if (!length) throw new Error(`There are no histograms of source ${source}`);
    return { offset: this.#offsets[source]!, length, checksum: this.#checksums[source]! };
  }

  #grow(atLeast: number): void {
    const size = Math.max(atLeast, 2 * this.#lengths.length);
    const [offsets, lengths, checksums] = [this.#offsets, this.#lengths, this.#checksums];
    this.#offsets = new Float64Array(size);
    this.#offsets.set(offsets);
    this.#lengths = new Uint32Array(size);
    this.#lengths.set(lengths);
    this.#checksums = new Uint32Array(size);
    this.#checksums.set(checksums);
  }
}
