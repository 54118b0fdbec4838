import { SourcePacker } from '@halogrid/sources/pack-sources';
import { folderHolding } from '@halogrid/sources/part-uri';
import type { BlockSource } from '@halogrid/sources/source-block';
import type { PlannedSources } from './planned-sources.ts';

/** The most bytes that the texts of a block should take as stored: a lease carries the block in one message. */
const mostTextBytes = 2 ** 22;

/** Packs sources into a PlannedSources. They are added one by one, in order of their numbers. */
export class SourceGatherer {
  readonly #packer = new SourcePacker();
  readonly #runs: number[] = [];
  readonly #folders = new Set<string>();
  #uri = '';
  #hasPreviews = false;
  #isPlain = true;

  get count(): number {
    return this.#packer.length;
  }

  /** Whether the texts so far are as many as a block should have. */
  get isLong(): boolean {
    return this.#packer.textBytes >= mostTextBytes;
  }

  add(source: BlockSource): void {
    const { index, uri, preview, error, tiles = 1 } = source;
    if (this.count === 0) this.#uri = uri;
    const last = this.#runs.length - 2;
    if (last >= 0 && this.#runs[last]! + this.#runs[last + 1]! === index) this.#runs[last + 1]!++;
    else this.#runs.push(index, 1);
    if (preview) this.#hasPreviews = true;
    if (error || tiles > 1) this.#isPlain = false;
    if (this.#packer.add(source)) this.#folders.add(folderHolding(uri));
  }

  /** Nothing may be added afterwards. */
  end(): PlannedSources {
    return {
      runs: Float64Array.from(this.#runs),
      count: this.count,
      block: this.#packer.pack(),
      uri: this.#uri,
      folders: [...this.#folders],
      hasPreviews: this.#hasPreviews,
      isPlain: this.#isPlain,
    };
  }
}

/** Packs sources, which are in order of their numbers. */
export function gatherSources(sources: Iterable<BlockSource>): PlannedSources {
  const gatherer = new SourceGatherer();
  for (const source of sources) gatherer.add(source);
  return gatherer.end();
}
