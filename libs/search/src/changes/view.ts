import type { CellShape } from './appearance.ts';
import { medianOf, UsualRange } from './usual-range.ts';

/** Blocks from which the usual distance is known: 512 samples. */
const usualBlocks = 64;
/** A cell needs so many distances of its own; until then those of all cells together tell what is usual. */
const ownBlocks = 8;
/** A cell whose appearance is no further off than this has not changed, however quiet it was. */
const leastChange = 0.03;
/** Samples from which the usual distance of a cell is known, and how many of them must be there. */
const usualSamples = 128;
const learned = 8;
/** So few samples may deviate less than usual by chance: until then, no cell is taken for quieter than most. */
const ownDeviation = 64;
/** A sample's cell is no further off than usual where it is no further off than usual by this. */
const leastExcess = 0.03;

/**
 * One view of a camera, as it is or turned, blurred, covered: how it looks, and how far from that its cells usually
 * are.
 */
export class View {
  readonly reference: Float32Array;
  readonly #bins: number;
  readonly #times: number;
  readonly #blocks: UsualRange[];
  readonly #blocksOfAll = new UsualRange(1024);
  readonly #samples: UsualRange[];
  #sampleLimits: Float32Array | undefined;

  /** `times`: standard deviations above the median from which a distance is not usual. */
  constructor(reference: Float32Array, { rows, columns, bins }: CellShape, times: number) {
    this.reference = reference.slice();
    this.#bins = bins;
    this.#times = times;
    this.#blocks = Array.from({ length: rows * columns }, () => new UsualRange(usualBlocks));
    this.#samples = Array.from({ length: rows * columns }, () => new UsualRange(usualSamples));
  }

  /** The distance of a block that a cell exceeds where it looks otherwise. */
  blockLimit(cell: number): number {
    const own = this.#blocks[cell]!;
    const usual = own.count >= ownBlocks ? own : this.#blocksOfAll;
    return usual.count === 0 ? 4 * leastChange : Math.max(leastChange, usual.limit(this.#times));
  }

  /** The same of a sample, for all cells; nothing while too few are known. */
  get sampleLimits(): Float32Array | undefined {
    return this.#sampleLimits;
  }

  /** Takes distances of a cell, one a block, for usual. */
  learnBlocks(cell: number, distances: readonly number[]): void {
    const own = this.#blocks[cell]!;
    for (const distance of distances) {
      if (own.count < ownBlocks) this.#blocksOfAll.add(distance);
      own.add(distance);
    }
  }

  learnSamples(samples: readonly ArrayLike<number>[]): void {
    for (const distances of samples) for (const [cell, own] of this.#samples.entries()) own.add(distances[cell]!);
    if (this.#samples[0]!.count < learned) return;
    const most = medianOf(Float32Array.from(this.#samples, ({ deviation }) => deviation));
    this.#sampleLimits = Float32Array.from(this.#samples, ({ count, median, deviation }) => {
      const usual = count < ownDeviation ? Math.max(deviation, most) : deviation;
      return median + Math.max(leastExcess, this.#times * usual);
    });
  }

  /** Moves the reference of a cell a part of the way to the block. */
  take(cell: number, block: Float32Array, part: number): void {
    const { reference } = this;
    for (let i = cell * this.#bins; i < (cell + 1) * this.#bins; i++)
      reference[i]! += part * (block[i]! - reference[i]!);
  }
}
