import { compareScores, type Distance, type Score } from '../distances/distance.ts';

/** A scored vector of the index: a frame's, or a vector of one of its cells. */
export interface Hit {
  readonly score: Score;
  /** Number of the frame in the index. */
  readonly row: number;
  /** Number of the cell, row by row; 0 if frames are compared as a whole. */
  readonly cell: number;
}

/** The facts about a frame of the index that decide the order of hits. */
export interface IndexedPlace {
  readonly uri: string;
  readonly frame: number;
}

/**
 * The order of results: the best score first; of equal scores, the smaller URI in the order of UTF-16 code units, then
 * the smaller frame, then the smaller cell, row by row. Frames that are alike in all of that, because two jobs have
 * computed the same source, come in the order of the index.
 */
export function compareHits(
  sense: Distance['sense'],
  placeOf: (row: number) => IndexedPlace,
): (a: Hit, b: Hit) => number {
  return (a, b) => {
    const byScore = compareScores(sense, a.score, b.score);
    if (byScore !== 0) return byScore;
    if (a.row === b.row) return a.cell - b.cell;
    const [one, other] = [placeOf(a.row), placeOf(b.row)];
    if (one.uri !== other.uri) return one.uri < other.uri ? -1 : 1;
    return one.frame - other.frame || a.cell - b.cell || a.row - b.row;
  };
}
