import { distances } from '../distances/distance.ts';
import { Best } from '../ranking/best.ts';
import { compareHits, type Hit } from '../ranking/hit.ts';
import type { Catalog } from '../store/catalog.ts';
import type { Wanted } from './index-scan.ts';

/** The best hits for each query, in order, out of the hits in parts of an index. */
export function mergeHits(
  catalog: Catalog,
  { queries, distance, top }: Wanted,
  parts: readonly (readonly Hit[][])[],
): Hit[][] {
  const compare = compareHits(distances[distance].sense, catalog.placeOf);
  return queries.map((_, query) => {
    const best = new Best(top, compare);
    for (const part of parts) for (const hit of part[query]!) best.offer(hit);
    return best.sorted();
  });
}
