import { readVarints, varintsLength, writeVarints } from '@halogrid/proto/varints';
import { binsOfSource, type HistogramShape } from './histogram-shape.ts';

/** What a pipeline counts of a source. */
export interface SourceSums {
  counted: number;
  /** Those of all cells, as HistogramShape lays them out. */
  bins: ArrayLike<number>;
}

/** What is known of a source, one a pipeline of the job; undefined of pipelines that are to compute it. */
export type KnownSums = readonly (SourceSums | undefined)[];

/** The bytes of it: varints, for each pipeline 0, or 1, the pixels that are counted and the counts. */
export function packKnown(known: KnownSums): Uint8Array {
  const numbers = known.flatMap((sums) => (sums ? [[1, sums.counted], sums.bins] : [[0]]));
  const bytes = new Uint8Array(numbers.reduce((sum, part) => sum + varintsLength(part), 0));
  numbers.reduce((at, part) => writeVarints(part, bytes, at), 0);
  return bytes;
}

/** What packKnown wrote of pipelines whose shapes these are. Throws RangeError for other bytes. */
export function readKnown(bytes: Uint8Array, shapes: readonly HistogramShape[]): KnownSums {
  let at = 0;
  const take = (count: number): Float64Array => {
    const numbers = new Float64Array(count);
    at = readVarints(bytes, at, numbers);
    return numbers;
  };
  const known = shapes.map((shape): SourceSums | undefined => {
    if (take(1)[0] !== 1) return undefined;
    const [counted] = take(1) as unknown as [number];
    return { counted, bins: take(binsOfSource(shape)) };
  });
  if (at !== bytes.length) throw new RangeError(`What is known of a source has ${bytes.length} bytes instead of ${at}`);
  return known;
}
