/** Where an output has a source: its number in the list there, and how many of those before it are done. */
export interface EarlierPlace {
  source: number;
  doneBefore: number;
}

/**
 * Places in an output, of sources that are all done there: of each run of sources that follow one another the two
 * numbers of the first, and how many they are.
 */
export type EarlierRuns = readonly number[];

/** Adds the next place. */
export function addEarlier(runs: number[], { source, doneBefore }: EarlierPlace): void {
  const last = runs.length - 3;
  const count = runs[last + 2] ?? 0;
  if (count > 0 && runs[last]! + count === source) runs[last + 2]!++;
  else runs.push(source, doneBefore, 1);
}

/** What is thrown where what an output has of a source is not what it was. */
export const alteredEarlier = (uri: string, folder: string, cause?: unknown): Error =>
  new Error(
    `The earlier results of '${uri}' in '${folder}' have changed since they were written; a fresh run computes everything again`,
    { cause },
  );
