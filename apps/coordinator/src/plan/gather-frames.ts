import type { PlannedSources } from '@halogrid/jobs/planned-sources';
import { SourceGatherer } from '@halogrid/jobs/source-gatherer';
import type { BlockSource } from '@halogrid/sources/source-block';

/** The limits of a batch. A single frame of more than `maxBytes` makes a batch of its own. */
export interface BatchLimits {
  /** The most frames of a batch, by the number of the batch, from 0. */
  maxFrames: (batch: number) => number;
  /** The most bytes of decoded pixels. */
  maxBytes: number;
}

/** Frames that one shard computes, and their decoded bytes. */
export interface GatheredFrames {
  sources: PlannedSources;
  costBytes: number;
}

/** Puts frames into batches, in order: a batch closes when the next frame would pass one of its limits. */
export class FrameGatherer {
  readonly #limits: BatchLimits;
  #open = new SourceGatherer();
  #costBytes = 0;
  #closed = 0;

  constructor(limits: BatchLimits) {
    this.#limits = limits;
  }

  /** Adds a frame; returns the batch that it closed, if it did. */
  add(frame: BlockSource, frameBytes: number): GatheredFrames | undefined {
    const { maxFrames, maxBytes } = this.#limits;
    const isFull =
      this.#open.count >= maxFrames(this.#closed) || this.#costBytes + frameBytes > maxBytes || this.#open.isLong;
    const closed = isFull ? this.flush() : undefined;
    this.#open.add(frame);
    this.#costBytes += frameBytes;
    return closed;
  }

  /** The batch that is not full yet, if it holds any frame. */
  flush(): GatheredFrames | undefined {
    if (this.#open.count === 0) return undefined;
    const batch = { sources: this.#open.end(), costBytes: this.#costBytes };
    this.#open = new SourceGatherer();
    this.#costBytes = 0;
    this.#closed++;
    return batch;
  }
}
