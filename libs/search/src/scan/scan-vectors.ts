import { distances } from '../distances/distance.ts';
import type { DistanceName } from '../distances/distance-names.ts';
import type { Vector } from '../distances/vector.ts';
import type { Best } from '../ranking/best.ts';
import type { Hit } from '../ranking/hit.ts';
import type { Block, BlockScanner } from './block-scanner.ts';
import { largestFigure } from './bound.ts';
import { estimators } from './estimators.ts';

/** A query, and the best hits that were found so far. */
export interface Search {
  readonly query: Vector;
  readonly best: Best<Hit>;
}

/** The frame and the cell of the i-th vector of a block; undefined if it is not asked for. */
export type HitAt = (i: number) => Pick<Hit, 'row' | 'cell'> | undefined;

/**
 * Offers the vectors of the block in the scanner's memory to a search. A vector is scored by the definition unless its
 * estimate says that it cannot be among the best. Vectors without counts have no score.
 */
export function scanVectors(
  scanner: BlockScanner,
  name: DistanceName,
  block: Block,
  { query, best }: Search,
  hitAt: HitAt,
): void {
  const { near, bound } = scanner.estimate(name, query, block);
  const counts = scanner.counts(block);
  const { length, masses } = block;
  const { of } = estimators[name];
  const limit = (): number =>
    best.worst ? -largestFigure(bound, of(best.worst.score.value)) : Number.NEGATIVE_INFINITY;
  let least = limit();
  for (let i = 0; i < masses.length; i++) {
    if (near[i]! < least || masses[i] === 0) continue;
    const hit = hitAt(i);
    if (!hit) continue;
    const bins = counts.subarray(i * length, (i + 1) * length);
    if (best.offer({ ...hit, score: distances[name].score(query, { bins, mass: masses[i]! }) })) least = limit();
  }
}
