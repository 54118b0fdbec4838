// For tests: plans with sources that have only the fields that matter.
import type { BlockSource } from '@halogrid/sources/source-block';
import { type PlannedSources, readSources } from '../planned-sources.ts';
import type { PlannedStep, PlanStep } from '../shard.ts';
import { gatherSources } from '../source-gatherer.ts';

export type ToldSource = Pick<BlockSource, 'index' | 'uri'> & Partial<BlockSource>;

/** The name of a source is its number, unless it has another. */
export const plannedSources = (sources: readonly ToldSource[]): PlannedSources =>
  gatherSources(sources.map((source) => ({ name: String(source.index), sizeBytes: 0, ...source })));

/** The steps of a batch: its sources, and its shard. */
export function batchSteps(shard: number, told: readonly ToldSource[], costBytes = 1): PlanStep[] {
  const sources = plannedSources(told);
  return [
    { kind: 'sources', sources },
    { kind: 'shard', shard: { shard, work: { kind: 'frames', sources }, costBytes } },
  ];
}

/** All sources of a plan, in order of their numbers. */
export function sourcesOf(steps: readonly PlannedStep[]): BlockSource[] {
  const sources = steps.flatMap((step) => (step.kind === 'sources' ? [...readSources(step.sources)] : []));
  return sources.sort((a, b) => a.index - b.index);
}

/** Steps whose sources can be compared one by one. */
export const readable = (steps: readonly PlannedStep[]): unknown[] =>
  steps.map((step) => {
    if (step.kind === 'sources') return { ...step, sources: [...readSources(step.sources)] };
    if (step.kind !== 'shard') return step;
    const { work, ...shard } = step.shard;
    return { kind: 'shard', shard: { ...shard, work: { ...work, sources: [...readSources(work.sources)] } } };
  });
