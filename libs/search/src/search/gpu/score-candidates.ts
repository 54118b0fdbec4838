import { distances } from '../../distances/distance.ts';
import type { Hit } from '../../ranking/hit.ts';
import { countArrays } from '../../scan/count-arrays.ts';
import type { Catalog } from '../../store/catalog.ts';
import { type BlockPlace, massesOf } from '../../store/read-block.ts';
import type { Wanted } from '../index-scan.ts';
import type { GpuClock } from './gpu-clock.ts';
import type { GpuPasses, ScanTarget, VectorPick } from './gpu-passes.ts';
import { shelfBlockAt } from './plan-shelves.ts';
import type { Shelf } from './shelf.ts';

/** The most bytes of vectors that are read back at once, unless a single one has more. */
const mostGathered = 2 ** 25;

/** An index on a device. */
export interface ShelvedIndex {
  readonly catalog: Catalog;
  readonly shelves: readonly Shelf[];
  readonly passes: GpuPasses;
  readonly clock: GpuClock;
}

/** A vector that may be among the best of a query, and its figure. */
export interface VectorCandidate extends VectorPick {
  query: number;
  figure: number;
}

/** Scores candidates by the definition, as many at once as memory allows. */
export async function scoreAll(
  index: ShelvedIndex,
  sight: ScanTarget,
  { queries, distance, unit }: Wanted,
  candidates: readonly VectorCandidate[],
  isWorth: (one: VectorCandidate) => boolean,
  offer: (query: number, hit: Hit) => void,
): Promise<void> {
  const { catalog, shelves, passes } = index;
  const { score } = distances[distance];
  const atOnce = Math.max(1, Math.floor(mostGathered / (4 * sight.length)));
  for (let i = 0; i < candidates.length; i += atOnce) {
    const picks = candidates
      .slice(i, i + atOnce)
      .filter(isWorth)
      .toSorted((a, b) => a.shelf - b.shelf);
    if (picks.length === 0) continue;
    const gathered = await passes.gather(sight, picks);
    let at = 0;
    for (const one of picks) {
      const { plan } = shelves[one.shelf]!;
      const bins = new countArrays[plan.width](gathered, at, sight.length);
      at += sight.length * plan.width;
      if (!isWorth(one)) continue;
      const { place, row } = vectorPlace(index, one);
      const mass = massesOf(catalog, place, unit)[one.cell]!;
      offer(one.query, { row, cell: one.cell, score: score(queries[one.query]!, { bins, mass }) });
    }
  }
}

/** The block of a vector's frame, and the frame's number in the index. */
export function vectorPlace({ catalog, shelves }: ShelvedIndex, one: VectorPick): { place: BlockPlace; row: number } {
  const { place, first } = shelfBlockAt(shelves[one.shelf]!.plan, one.row)!;
  const from = place.from + one.row - first;
  return { place: { ...place, from, frames: 1 }, row: catalog.starts[place.segment]! + from };
}
