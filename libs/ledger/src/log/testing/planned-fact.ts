import { plannedSources, type ToldSource } from '@halogrid/jobs/testing-planned';
import type { PlannedFact, PlannedShard } from '../fact.ts';

/** For tests: a fact with the sources of one block and their shards. */
export function plannedFact(
  told: readonly ToldSource[],
  works: readonly PlannedShard['work'][],
  firstShard = 0,
): PlannedFact {
  const first = told[0]!.index;
  const { count: _, runs, ...block } = plannedSources(told);
  return {
    kind: 'planned',
    sources: { ...block, runs: [...runs] },
    firstShard,
    shards: works.map((work) => ({ first, work, costBytes: 1 })),
    isLast: false,
  };
}
