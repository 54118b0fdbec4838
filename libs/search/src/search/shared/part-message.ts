import type { PartFound, PartHit, SearchPart } from '@halogrid/proto';
import type { Score } from '../../distances/distance.ts';
import { type DistanceName, distanceNames } from '../../distances/distance-names.ts';
import { type Fraction, nearestFloat } from '../../distances/fraction.ts';
import { massOf, type Vector } from '../../distances/vector.ts';
import type { Hit } from '../../ranking/hit.ts';
import type { PipelineIdentity } from '../../store/pipeline-identity.ts';
import { lengthOf } from '../../store/read-block.ts';
import type { Wanted } from '../index-scan.ts';

/** A search, as the fields of an order to a node. */
export function wantedMessage({ queries, distance, top, unit, filter }: Wanted) {
  return {
    queries: queries.map(({ bins }) => ({ counts: Array.from(bins) })),
    distance,
    top,
    cells: unit === 'cell',
    ...filter,
  };
}

/** The search in an order, for an index with that pipeline. Throws Error with one sentence for an impossible order. */
export function wantedOf(order: SearchPart, pipeline: PipelineIdentity): Wanted {
  const { queries, distance, top, cells, sinceMs, untilMs, camera } = order;
  const unit = cells ? 'cell' : 'frame';
  const length = lengthOf(pipeline, unit);
  if (!isDistance(distance)) throw new Error(`This version of halogrid has no distance '${distance}'`);
  if (top < 1) throw new Error('No hit is asked for');
  if (queries.some(({ counts }) => counts.length !== length))
    throw new Error(`Expected queries of ${length} counts but received others`);
  const vectors = queries.map(({ counts }): Vector => ({ bins: Float64Array.from(counts), mass: massOf(counts) }));
  const filter = {
    ...(sinceMs !== undefined && { sinceMs }),
    ...(untilMs !== undefined && { untilMs }),
    ...(camera !== undefined && { camera }),
  };
  return { queries: vectors, distance, top, unit, filter };
}

const isDistance = (name: string): name is DistanceName => distanceNames.some((known) => known === name);

/** Hits, as the field of an answer. */
export const rankingsMessage = (found: readonly (readonly Hit[])[]): PartFound['rankings'] =>
  found.map((hits) => ({
    hits: hits.map(
      ({ row, cell, score: { value, fraction } }): PartHit => ({
        row,
        cell,
        score: value,
        exact: fraction ? `${fraction.numerator}/${fraction.denominator}` : '',
      }),
    ),
  }));

/** The hits of an answer. Throws Error with one sentence for an invalid score. */
export const hitsOf = ({ rankings }: Pick<PartFound, 'rankings'>): Hit[][] =>
  rankings.map(({ hits }) => hits.map(({ row, cell, score, exact }) => ({ row, cell, score: scoreOf(score, exact) })));

/** A score as its definition gives it: if it is exact, its fraction decides. */
function scoreOf(value: number, exact: string): Score {
  if (exact === '') return { value };
  const parts = /^(\d+)\/([1-9]\d*)$/.exec(exact);
  if (!parts) throw new Error('It answered a score that is not a fraction');
  const [numerator, denominator] = [BigInt(parts[1]!), BigInt(parts[2]!)];
  const isSafe = numerator <= Number.MAX_SAFE_INTEGER && denominator <= Number.MAX_SAFE_INTEGER;
  const fraction: Fraction = isSafe
    ? { numerator: Number(numerator), denominator: Number(denominator) }
    : { numerator, denominator };
  return { value: nearestFloat(fraction), fraction };
}
