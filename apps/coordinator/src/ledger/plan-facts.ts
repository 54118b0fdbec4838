import { indexesOf } from '../job/packed-frames.ts';
import type { KeptResult, PlanStep, Shard } from '../job/shard.ts';
import type { PlannedFact, PlannedShard, SourceFault } from '../log/fact.ts';
import { packObject, readObject } from '../log/fact-codec.ts';
import { SourceRuns } from '../log/source-runs.ts';

/** What steps of a plan say that its log keeps. */
export interface PlannedSteps {
  fact: PlannedFact;
  /** Results of an earlier job that hold for this one. */
  kept: { index: number; result: KeptResult }[];
}

/** Steps that follow `sources` sources and `shards` shards, as a fact; `uriOf` knows sources of steps before. */
export function planFacts(
  steps: readonly PlanStep[],
  isLast: boolean,
  { sources: first, shards: firstShard }: { sources: number; shards: number },
  uriOf: (source: number) => string,
): PlannedSteps {
  const uris = new Map<number, string>();
  const errors: SourceFault[] = [];
  const cut: { source: number; tiles: number }[] = [];
  const shards: PlannedShard[] = [];
  const kept: PlannedSteps['kept'] = [];
  let sources = 0;
  const recorded = steps.map((step): PlanStep => {
    if (step.kind === 'source') {
      sources++;
      uris.set(step.index, step.uri);
      if (step.tiles > 1) cut.push({ source: step.index, tiles: step.tiles });
    } else if (step.kind === 'quarantine') {
      const { index: source, stage, error } = step;
      errors.push({ source, uri: uris.get(source) ?? uriOf(source), stage, error });
    } else if (step.kind === 'kept') {
      const { result, ...told } = step;
      kept.push({ index: step.index, result: result! });
      return told;
    } else {
      if (step.shard.work.kind === 'packed') sources += step.shard.work.count;
      shards.push(plannedShard(step.shard));
    }
    return step;
  });
  const block = packObject({ steps: recorded });
  return { fact: { kind: 'planned', first, sources, block, errors, cut, firstShard, shards, isLast }, kept };
}

function plannedShard({ work, costBytes, needs }: Shard): PlannedShard {
  const more = needs ? { needs } : {};
  if (work.kind === 'tile') {
    return { work: { kind: 'tile', source: work.source.index, size: work.size, rect: work.rect }, costBytes, ...more };
  }
  const runs = work.kind === 'packed' ? [work.first, work.count] : [...SourceRuns.of(indexesOf(work)).runs];
  return { work: { kind: 'frames', runs }, costBytes, ...more };
}

/** The steps that a fact was made of, without results. Blocks of packed frames share its memory. */
export const stepsOf = ({ block }: PlannedFact): PlanStep[] => (readObject(block) as { steps: PlanStep[] }).steps;
