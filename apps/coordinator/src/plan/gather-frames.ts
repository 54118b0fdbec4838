/** What a batch holds at most; a frame that is larger alone than `maxBytes` makes a batch of its own. */
export interface BatchLimits {
  /** Frames of the batch with that number, counted from 0. */
  maxFrames: (batch: number) => number;
  /** Bytes of decoded pixels. */
  maxBytes: number;
}

/** Frames that one shard computes, and their decoded bytes. */
export interface Batch<Frame> {
  frames: Frame[];
  costBytes: number;
}

/** Puts frames into batches, in order: a batch closes when the next frame would pass one of its limits. */
export class FrameGatherer<Frame> {
  readonly #limits: BatchLimits;
  #open: Batch<Frame> = { frames: [], costBytes: 0 };
  #closed = 0;

  constructor(limits: BatchLimits) {
    this.#limits = limits;
  }

  /** Adds a frame; returns the batch that it closed, if it did. */
  add(frame: Frame, frameBytes: number): Batch<Frame> | undefined {
    const { frames, costBytes } = this.#open;
    const isFull =
      frames.length >= this.#limits.maxFrames(this.#closed) || costBytes + frameBytes > this.#limits.maxBytes;
    const closed = isFull ? this.flush() : undefined;
    this.#open.frames.push(frame);
    this.#open.costBytes += frameBytes;
    return closed;
  }

  /** The batch that is not full yet, if it holds any frame. */
  flush(): Batch<Frame> | undefined {
    const batch = this.#open;
    if (batch.frames.length === 0) return undefined;
    this.#open = { frames: [], costBytes: 0 };
    this.#closed++;
    return batch;
  }
}
