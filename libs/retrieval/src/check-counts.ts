import { Refusal } from '@halogrid/jobs/refusal';

/** Counts that are told at most: an answer is one text, of 8 MB then. */
const mostCounts = 2 ** 20;

/** Throws Refusal where sums of so many cells, of so many bins each, are more than are told. */
export function checkCounts(cells: number, bins: number): void {
  if (cells * bins <= mostCounts) return;
  throw new Refusal(
    'unmet',
    `Its ${cells} cells have ${cells * bins} counts, more than the ${mostCounts} that are told`,
  );
}
