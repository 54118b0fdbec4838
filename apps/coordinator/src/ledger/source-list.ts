import { type BlockSource, SourceBlock } from '@halogrid/sources/source-block';
import type { PlannedSources } from '../job/planned-sources.ts';
import { folderOf } from '../job/source-gatherer.ts';
import { SourceRuns } from '../job/source-runs.ts';

/** Blocks whose sources may alternate: frames of a batch, and sources that are set aside among them. */
const openBlocks = 4;

/** Sources that follow one another in the job and in their block. */
interface Part<Sources> {
  /** Number of the first. */
  first: number;
  count: number;
  sources: Sources;
  /** Place of the first in the block. */
  nth: number;
}

/** A source in a block, and how many follow it there and in the job, itself included. */
export interface PlannedPlace<Sources> {
  sources: Sources;
  nth: number;
  left: number;
}

/**
 * The sources of a job in the order of its plan. A million of them are more than memory should hold, so they are read
 * from where their blocks lie. Reading one after another decodes each block once.
 */
export class SourceList<Sources extends PlannedSources = PlannedSources> {
  /** In order of their first sources. */
  readonly #parts: Part<Sources>[] = [];
  #length = 0;
  /** The blocks that were read last, the latest first. */
  #open: { sources: Sources; block: SourceBlock }[] = [];

  /** Sources so far; those of blocks that are still to come may lie between them. */
  get length(): number {
    return this.#length;
  }

  /** Throws RangeError where one of them is there already. */
  add(sources: Sources): void {
    new SourceRuns(sources.runs).forEach((first, end, nth) => {
      const at = this.#placeBefore(end) + 1;
      const before = this.#parts[at - 1];
      if (before && before.first + before.count > first) throw new RangeError(`Source ${first} is planned twice`);
      this.#parts.splice(at, 0, { first, count: end - first, sources, nth });
    });
    this.#length += sources.count;
  }

  /** The source with that number, which must be there. */
  get(index: number): BlockSource {
    const { sources, nth } = this.#planned(index);
    return this.#blockOf(sources).get(nth);
  }

  /** A source for people: its URI, or the folder that it is in while the disk that lists it cannot be read. */
  whereabouts(index: number): string {
    try {
      return this.get(index).uri;
    } catch {
      return `${folderOf(this.#planned(index).sources.uri)}/…`;
    }
  }

  /** How many results make a source. */
  tiles(index: number): number {
    const { sources, nth } = this.#planned(index);
    return sources.isPlain ? 1 : this.#blockOf(sources).tiles(nth);
  }

  /** Where a source lies; undefined where it is not there. */
  place(index: number): PlannedPlace<Sources> | undefined {
    const part = this.#parts[this.#placeBefore(index + 1)];
    const left = part ? part.first + part.count - index : 0;
    return part && left > 0 ? { sources: part.sources, nth: part.nth + index - part.first, left } : undefined;
  }

  *[Symbol.iterator](): Generator<BlockSource, undefined> {
    for (const { sources, nth, count } of this.#parts) {
      const block = this.#blockOf(sources);
      for (let i = nth; i < nth + count; i++) yield block.get(i);
    }
    return undefined;
  }

  #planned(index: number): PlannedPlace<Sources> {
    const place = this.place(index);
    if (!place) throw new RangeError(`There is no source ${index}`);
    return place;
  }

  #blockOf(sources: Sources): SourceBlock {
    const [latest] = this.#open;
    if (latest?.sources === sources) return latest.block;
    const known = this.#open.find((open) => open.sources === sources);
    const open = known ?? { sources, block: new SourceBlock(sources.block) };
    this.#open = [open, ...this.#open.filter((other) => other !== open)].slice(0, openBlocks);
    return open.block;
  }

  /** Place of the last part whose first source is before that number; -1: no part is. */
  #placeBefore(index: number): number {
    // Nearly all blocks come in order.
    if ((this.#parts.at(-1)?.first ?? -1) < index) return this.#parts.length - 1;
    let [low, high] = [-1, this.#parts.length - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (this.#parts[middle]!.first < index) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}
