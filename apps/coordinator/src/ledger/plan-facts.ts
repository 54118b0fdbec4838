import { firstOf } from '../job/planned-sources.ts';
import type { KeptResult, PlanStep, Shard } from '../job/shard.ts';
import type { PlannedFact, PlannedShard } from '../log/fact.ts';

/** A planned fact, and results of an earlier job that hold for sources of it. */
export interface PlanTold {
  fact: PlannedFact;
  kept: readonly KeptResult[];
}

/** Steps of a plan that follow `firstShard` shards as facts: one for each block of sources. */
export function planFacts(steps: readonly PlanStep[], isLast: boolean, firstShard: number): PlanTold[] {
  const told: (PlanTold & { fact: { shards: PlannedShard[] } })[] = [];
  const add = (sources: PlannedFact['sources'], kept: readonly KeptResult[] = []) => {
    const more = sources ? { sources } : {};
    const next = { fact: { kind: 'planned' as const, ...more, firstShard, shards: [], isLast: false }, kept };
    told.push(next);
    return next;
  };
  for (const step of steps) {
    if (step.kind === 'sources') {
      const { runs, block, uri, folders, hasPreviews, isPlain } = step.sources;
      add({ runs: [...runs], block, uri, folders, hasPreviews, isPlain }, step.kept);
      continue;
    }
    const { fact } = told.at(-1) ?? add(undefined);
    fact.shards.push(plannedShard(step.shard));
    firstShard++;
  }
  if (isLast) (told.at(-1) ?? add(undefined)).fact.isLast = true;
  return told;
}

function plannedShard({ work: { sources, ...work }, costBytes }: Shard): PlannedShard {
  return { first: firstOf(sources), work, costBytes };
}
