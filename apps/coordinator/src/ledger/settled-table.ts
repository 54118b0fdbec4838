import type { Size } from '@halogrid/geometry';
import { quarantinedDigest } from './digest.ts';
import type { Quarantine, SourceDigest } from './record/settled-source.ts';

/** What became of a source for good. */
export type SettledSource =
  | {
      /** Every tile came, and the totals hold their sum. */
      state: 'done';
      size: Size;
      counted: number;
      digest: SourceDigest;
    }
  | {
      /** It cannot be processed and counts nothing, whatever came before or comes later. */
      state: 'quarantined';
      reason: Quarantine;
    };

const blockSources = 1024;
const digestBytes = 32;
const states = { open: 0, done: 1, quarantined: 2 } as const;

/** 49 bytes a source. */
class Block {
  readonly states = new Uint8Array(blockSources);
  /** Widths and heights in turns, below 2^32 as everywhere in the protocol. */
  readonly sizes = new Uint32Array(2 * blockSources);
  readonly counted = new Float64Array(blockSources);
  readonly digests = new Uint8Array(digestBytes * blockSources);
}

/**
 * What became of the sources that are done or quarantined, by index: numbers in blocks, none of which is ever copied, so that
 * memory grows by a little with every thousand of them, and never at once. Only reasons are objects.
 */
export class SettledTable {
  readonly #blocks: (Block | undefined)[] = [];
  readonly #reasons = new Map<number, Quarantine>();

  /** undefined while the source is open. */
  state(index: number): SettledSource['state'] | undefined {
    const state = this.#blocks[Math.floor(index / blockSources)]?.states[index % blockSources];
    if (state === states.done) return 'done';
    return state === states.quarantined ? 'quarantined' : undefined;
  }

  get(index: number): SettledSource | undefined {
    const state = this.state(index);
    if (state === undefined) return undefined;
    if (state === 'quarantined') return { state, reason: this.#reasons.get(index)! };
    const { block, at } = this.#place(index);
    const size = { width: block.sizes[2 * at]!, height: block.sizes[2 * at + 1]! };
    const digest = block.digests.subarray(digestBytes * at, digestBytes * (at + 1));
    return { state, size, counted: block.counted[at]!, digest };
  }

  /** Settles a source, or gives another reason for its quarantine. */
  set(index: number, source: SettledSource): void {
    const { block, at } = this.#place(index);
    block.states[at] = states[source.state];
    if (source.state === 'quarantined') {
      this.#reasons.set(index, source.reason);
      block.digests.set(quarantinedDigest, digestBytes * at);
      return;
    }
    block.sizes[2 * at] = source.size.width;
    block.sizes[2 * at + 1] = source.size.height;
    block.counted[at] = source.counted;
    block.digests.set(source.digest, digestBytes * at);
  }

  /** Every source that is quarantined, in no order. */
  quarantined(): Iterable<[index: number, reason: Quarantine]> {
    return this.#reasons;
  }

  /** The digests of the sources below `count`, which are all settled, in order: some in a row at a time. */
  *digests(count: number): Generator<Uint8Array> {
    for (let from = 0; from < count; from += blockSources) {
      const { block } = this.#place(from);
      yield block.digests.subarray(0, digestBytes * Math.min(blockSources, count - from));
    }
  }

  #place(index: number): { block: Block; at: number } {
    const number = Math.floor(index / blockSources);
    this.#blocks[number] ??= new Block();
    return { block: this.#blocks[number], at: index % blockSources };
  }
}
