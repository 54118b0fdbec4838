import { readVarints, skipVarints, varintsLength, writeVarints } from '@halogrid/proto/varints';
import { binsOfSource, type HistogramShape } from './histogram-shape.ts';

/** What a pipeline counts of a source. */
export interface SourceSums<Counts extends ArrayLike<number> = ArrayLike<number>> {
  counted: number;
  /** Those of all cells, as HistogramShape lays them out. */
  bins: Counts;
}

/**
 * The known counts of a source, one entry a pipeline of the job; undefined for pipelines that are to compute it. They
 * go from the plan through the log to the lease, in the block of the source. So the part and the answer look as if the
 * node had computed all pipelines, and one fact completes the source in all of them.
 */
export type KnownSums = readonly (SourceSums | undefined)[];

/** The bytes of it: varints, for each pipeline 0, or 1, the pixels that are counted and the counts. */
export function packKnown(known: KnownSums): Uint8Array {
  const numbers = known.flatMap((sums) => (sums ? [[1, sums.counted], sums.bins] : [[0]]));
  const bytes = new Uint8Array(numbers.reduce((sum, part) => sum + varintsLength(part), 0));
  numbers.reduce((at, part) => writeVarints(part, bytes, at), 0);
  return bytes;
}

/** Which of the pipelines, whose shapes these are, are in what packKnown wrote. Throws RangeError for other bytes. */
export function knownPipelines(bytes: Uint8Array, shapes: readonly HistogramShape[]): boolean[] {
  let at = 0;
  const known = shapes.map((shape) => {
    const isKnown = bytes[at] === 1;
    at = endOf(bytes, at, shape);
    return isKnown;
  });
  if (at !== bytes.length) throw new RangeError(`What is known of a source has ${bytes.length} bytes instead of ${at}`);
  return known;
}

/** What is known by the pipeline with that number. The bytes are such as `knownPipelines` takes. */
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

/** Where a pipeline ends that begins at `at`. */
const endOf = (bytes: Uint8Array, at: number, shape: HistogramShape): number =>
  skipVarints(bytes, at, bytes[at] === 1 ? 2 + binsOfSource(shape) : 1);
