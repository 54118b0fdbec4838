import { distances } from '../../distances/distance.ts';
import { compareHits, type Hit } from '../../ranking/hit.ts';
import type { Catalog } from '../../store/catalog.ts';
import { cellsOfGrid } from '../../store/pipeline-identity.ts';
import { type BlockPlace, massesOf } from '../../store/read-block.ts';
import { admission } from '../admission.ts';
import type { Wanted } from '../index-scan.ts';

/**
 * Throws Error with one sentence for an answer that these successive blocks cannot have: too few or too many hits, hits
 * outside of the part, or hits out of order. It does not check whether scores are right.
 */
export function checkPart(
  catalog: Catalog,
  blocks: readonly BlockPlace[],
  wanted: Wanted,
  rankings: readonly (readonly Hit[])[],
): void {
  const { queries, distance, top, unit } = wanted;
  const [begin, end] = rowsOf(catalog, blocks);
  const cells = unit === 'cell' ? cellsOfGrid(catalog.pipeline) : 1;
  const compare = compareHits(distances[distance].sense, catalog.placeOf);
  const expected = countUpTo(top, catalog, blocks, wanted);
  if (rankings.length !== queries.length)
    throw new Error(`It answered ${rankings.length} of ${queries.length} queries`);
  for (const hits of rankings) {
    if (hits.length !== expected) throw new Error(`It answered ${hits.length} hits where there are ${expected}`);
    for (const [i, hit] of hits.entries()) {
      const { row, cell, score } = hit;
      if (row < begin || row >= end || cell >= cells) throw new Error('It answered a hit that is not in its part');
      const isExact = distance === 'intersection' || distance === 'l1';
      if (!Number.isFinite(score.value) || isExact !== (score.fraction !== undefined))
        throw new Error('It answered a score that the distance does not have');
      if (i > 0 && compare(hits[i - 1]!, hit) >= 0) throw new Error('It answered hits that are not in order');
    }
  }
}

/** The number of vectors in the blocks that are asked for and have counts; `most` if there are more. */
function countUpTo(most: number, catalog: Catalog, blocks: readonly BlockPlace[], { unit, filter }: Wanted): number {
  const cells = unit === 'cell' ? cellsOfGrid(catalog.pipeline) : 1;
  let count = 0;
  for (const place of blocks) {
    const admits = admission(catalog, place, filter);
    if (!admits) continue;
    for (const [vector, mass] of massesOf(catalog, place, unit).entries()) {
      if (mass > 0 && admits(Math.floor(vector / cells))) count++;
      if (count === most) return most;
    }
  }
  return count;
}

/** The first row of successive blocks, and the row behind their last. */
function rowsOf({ starts }: Catalog, blocks: readonly BlockPlace[]): [number, number] {
  const [first, last] = [blocks[0]!, blocks.at(-1)!];
  return [starts[first.segment]! + first.from, starts[last.segment]! + last.from + last.frames];
}
