import { readVarints, skipVarints, varintsLength, writeVarints } from '@halogrid/proto/varints';
import { binsOfSource, type HistogramShape } from './histogram-shape.ts';

/** The counts of a source by one pipeline. */
export interface SourceSums<Counts extends ArrayLike<number> = ArrayLike<number>> {
  /** Pixels counted in each channel. */
  counted: number;
  /** The counts of all cells, in the order of HistogramShape. */
  bins: Counts;
}

/**
 * The known counts of a source, one entry per pipeline of the job; undefined for pipelines that still have to compute
 * it. The counts travel in the block of the source: from the plan through the log to the lease. So the part and the
 * answer look as if the node had computed all pipelines, and one fact completes the source in all of them.
 */
export type KnownSums = readonly (SourceSums | undefined)[];

/** Packs known counts as varints: for each pipeline 0, or else 1, the counted pixels and the counts. */
export function packKnown(known: KnownSums): Uint8Array {
  const numbers = known.flatMap((sums) => (sums ? [[1, sums.counted], sums.bins] : [[0]]));
  const bytes = new Uint8Array(numbers.reduce((sum, part) => sum + varintsLength(part), 0));
  numbers.reduce((at, part) => writeVarints(part, bytes, at), 0);
  return bytes;
}

/**
 * Which pipelines have counts in the bytes of packKnown. `shapes` has an entry for every pipeline of the job. Throws
 * RangeError for other bytes.
 */
export function knownPipelines(bytes: Uint8Array, shapes: readonly HistogramShape[]): boolean[] {
  let at = 0;
  const known = shapes.map((shape) => {
    const isKnown = bytes[at] === 1;
    at = endOf(bytes, at, shape);
    return isKnown;
  });
  if (at !== bytes.length) throw new RangeError(`Known counts of a source have ${bytes.length} bytes instead of ${at}`);
  return known;
}

/**
 * The known counts of the pipeline with this index; undefined if there are none. `knownPipelines` must accept the
 * bytes.
 */
export function readKnown(
  bytes: Uint8Array,
  shapes: readonly HistogramShape[],
  pipeline: number,
): SourceSums<Float64Array> | undefined {
  const at = shapes.slice(0, pipeline).reduce((from, shape) => endOf(bytes, from, shape), 0);
  if (bytes[at] !== 1) return undefined;
  const numbers = new Float64Array(1 + binsOfSource(shapes[pipeline]!));
  readVarints(bytes, at + 1, numbers);
  return { counted: numbers[0]!, bins: numbers.subarray(1) };
}

/** The end of a pipeline's entry that begins at `at`. */
const endOf = (bytes: Uint8Array, at: number, shape: HistogramShape): number =>
  skipVarints(bytes, at, bytes[at] === 1 ? 2 + binsOfSource(shape) : 1);
