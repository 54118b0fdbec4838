import { countsIn, joinCounts, type SourceResult as WireResult } from '@halogrid/proto';
import type { PackedBins } from '../job/shard.ts';

/**
 * Bins of an answer at least that are left as they came: a thread reads them, which takes 60 to 100 ms of processor time to start,
 * and most jobs are over by then.
 */
const worthBins = 2 ** 17;

/**
 * The bins of an answer as they came, where they are many, all of one pipeline, and as many of each source as of the others.
 * Undefined where not, and where there are not as many as the results say.
 */
export function packedOf(results: readonly WireResult[], messages: readonly Uint8Array[]): PackedBins | undefined {
  const binsAResult = results[0]?.binCount ?? 0;
  if (binsAResult * results.length < worthBins) return undefined;
  if (!results.every(({ binCount, pipeline = 0 }) => binCount === binsAResult && pipeline === 0)) return undefined;
  let said = 0;
  for (const message of messages) said += countsIn(message) ?? Number.NaN;
  return said === binsAResult * results.length ? { messages, binsAResult } : undefined;
}

/** The bins of all results of an answer, read when the first of them is asked for. Those that are no counts are 0, which is refused. */
export class LateBins {
  readonly #packed: PackedBins;
  readonly #results: number;
  #bins: Uint32Array[] | undefined;

  constructor(packed: PackedBins, results: number) {
    this.#packed = packed;
    this.#results = results;
  }

  /** Those of the n-th result, counted from 0. */
  of(n: number): Uint32Array {
    this.#bins ??= this.#read();
    return this.#bins[n]!;
  }

  #read(): Uint32Array[] {
    const { messages, binsAResult } = this.#packed;
    const lengths = new Array<number>(this.#results).fill(binsAResult);
    try {
      return joinCounts(messages, lengths);
    } catch {
      return lengths.map((length) => new Uint32Array(length));
    }
  }
}
