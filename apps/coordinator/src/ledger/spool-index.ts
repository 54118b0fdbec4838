import type { HistogramPlace } from '../log/settled-source.ts';

const blockSources = 1024;

class Block {
  readonly offsets = new Float64Array(blockSources);
  /** 0 where there is none. */
  readonly lengths = new Uint32Array(blockSources);
  readonly checksums = new Uint32Array(blockSources);
}

/** Where the histograms of each source lie in a spool: 16 bytes a source, in blocks. */
export class SpoolIndex {
  readonly #blocks: (Block | undefined)[] = [];

  set(source: number, { offset, length, checksum }: HistogramPlace): void {
    const number = Math.floor(source / blockSources);
    this.#blocks[number] ??= new Block();
    const { offsets, lengths, checksums } = this.#blocks[number];
    const at = source % blockSources;
    offsets[at] = offset;
    lengths[at] = length;
    checksums[at] = checksum;
  }

  /** Throws where there is none. */
  get(source: number): HistogramPlace {
    const block = this.#blocks[Math.floor(source / blockSources)];
    const at = source % blockSources;
    const length = block?.lengths[at];
    if (!block || !length) throw new Error(`There are no histograms of source ${source}`);
    return { offset: block.offsets[at]!, length, checksum: block.checksums[at]! };
  }
}
