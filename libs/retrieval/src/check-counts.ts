import { Refusal } from '@halogrid/jobs/refusal';

/** The most counts of an answer, which is one text: 8 MB of JSON. */
const mostCounts = 2 ** 20;

/** Throws Refusal if `cells` with `bins` each are more counts than an answer may have. */
export function checkCounts(cells: number, bins: number): void {
  if (cells * bins <= mostCounts) return;
  throw new Refusal(
    'unmet',
    `Its ${cells} cells have ${cells * bins} counts, more than the ${mostCounts} that are told`,
  );
}
