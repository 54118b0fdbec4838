import { binsOfSource, type HistogramShape } from '../counts/histogram-shape.ts';

/** The place of a source in an output: its number in the list, and how many sources before it are done. */
export interface EarlierPlace {
  source: number;
  doneBefore: number;
}

/**
 * Places of sources that are done in an output, as runs of consecutive sources: `source` and `doneBefore` of the first
 * source, and how many sources there are.
 */
export type EarlierRuns = readonly number[];

/** How many counts are read for a source, in all pipelines; at least 1. */
export const countsOfSource = (pipelines: readonly { shape: HistogramShape }[]): number =>
  Math.max(
    1,
    pipelines.reduce((sum, { shape }) => sum + binsOfSource(shape), 0),
  );

/** Adds the next place to `runs`. */
export function addEarlier(runs: number[], { source, doneBefore }: EarlierPlace): void {
  const last = runs.length - 3;
  const count = runs[last + 2] ?? 0;
  if (count > 0 && runs[last]! + count === source) runs[last + 2]!++;
  else runs.push(source, doneBefore, 1);
}

/** The error for a source whose result in an output has changed. */
export const alteredEarlier = (uri: string, folder: string, cause?: unknown): Error =>
  new Error(
    `The earlier results of '${uri}' in '${folder}' have changed since they were written; a fresh run computes everything again`,
    { cause },
  );
