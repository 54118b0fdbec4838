import { firstOf } from '@halogrid/jobs/planned-sources';
import type { PlanStep, Shard } from '@halogrid/jobs/shard';
import type { PlannedFact, PlannedShard } from '../log/fact.ts';

/** Makes facts of steps of a plan, one for each block of sources. `firstShard` shards precede them. */
export function planFacts(steps: readonly PlanStep[], isLast: boolean, firstShard: number): PlannedFact[] {
  const facts: (PlannedFact & { shards: PlannedShard[] })[] = [];
  const add = (more: Pick<PlannedFact, 'sources'> = {}) => {
    const fact = { kind: 'planned' as const, ...more, firstShard, shards: [], isLast: false };
    facts.push(fact);
    return fact;
  };
  for (const step of steps) {
    if (step.kind === 'sources') {
      const { runs, block, uri, folders, hasPreviews, isPlain } = step.sources;
      add({ sources: { runs: [...runs], block, uri, folders, hasPreviews, isPlain } });
      continue;
    }
    (facts.at(-1) ?? add()).shards.push(plannedShard(step.shard));
    firstShard++;
  }
  if (isLast) (facts.at(-1) ?? add()).isLast = true;
  return facts;
}

function plannedShard({ work: { sources, ...work }, costBytes, elsewhere }: Shard): PlannedShard {
  return { first: firstOf(sources), work, costBytes, ...(elsewhere && { elsewhere }) };
}
