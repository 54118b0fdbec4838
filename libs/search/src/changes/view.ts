import type { CellShape } from './compare-cells.ts';
import { medianOf, UsualRange } from './usual-range.ts';

/** The number of latest blocks that define the usual distance: 512 samples. */
const usualBlocks = 64;
/** A cell needs this many distances. Until then, the distances of all cells together define what is usual for it. */
const ownBlocks = 8;
/** A cell with a distance of at most this has not changed, however quiet it was. */
const leastChange = 0.03;
/** The number of latest samples that define the usual distance of a cell, and the fewest that suffice. */
const usualSamples = 128;
const learned = 8;
/**
 * Fewer samples may deviate little by chance: until a cell has this many, it does not count as quieter than the median
 * cell.
 */
const ownDeviation = 64;
/** The distance of a sample's cell is still usual if it exceeds the usual one by at most this. */
const leastExcess = 0.03;

/**
 * One view of a camera (normal, turned, blurred or covered): how it looks, and how far from that its cells usually
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

  /** `times`: a distance is unusual from this many standard deviations above the median on. */
  constructor(reference: Float32Array, { rows, columns, bins }: CellShape, times: number) {
    this.reference = reference.slice();
    this.#bins = bins;
    this.#times = times;
    this.#blocks = Array.from({ length: rows * columns }, () => new UsualRange(usualBlocks));
    this.#samples = Array.from({ length: rows * columns }, () => new UsualRange(usualSamples));
  }

  /** A cell of a block has changed if its distance exceeds this. */
  blockLimit(cell: number): number {
    const own = this.#blocks[cell]!;
    const usual = own.count >= ownBlocks ? own : this.#blocksOfAll;
    return usual.count === 0 ? 4 * leastChange : Math.max(leastChange, usual.limit(this.#times));
  }

  /** The same limits for a sample, for all cells; undefined while too few samples are known. */
  get sampleLimits(): Float32Array | undefined {
    return this.#sampleLimits;
  }

  /** Adds distances of a cell, one a block, to the usual ones. */
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

  /** Moves the reference of a cell towards the block, by the share `part`. */
  take(cell: number, block: Float32Array, part: number): void {
    const { reference } = this;
    for (let i = cell * this.#bins; i < (cell + 1) * this.#bins; i++)
      reference[i]! += part * (block[i]! - reference[i]!);
  }
}
