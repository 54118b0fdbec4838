import { areAllKnown, readSources } from '@halogrid/jobs/planned-sources';
import type { PlanStep } from '@halogrid/jobs/shard';
import { isSameFile } from '@halogrid/results/same-file';
import { redactUri } from '@halogrid/sources/redact-uri';
import type { BlockSource } from '@halogrid/sources/source-block';
import type { EarlierOutput } from './earlier-output.ts';

/** How the sources of a job compare with the sources of the earlier job in its folder. Each frame of a video counts. */
export interface Changes {
  /** The earlier result is still valid. */
  kept: number;
  new: number;
  /** The file has another version than then. */
  changed: number;
  /** Unchanged, and computed by added pipelines only: the counts of the other pipelines are still valid. */
  extended: number;
  /** Unchanged, or without a comparable version, and computed again: it was quarantined, or lacks a picture. */
  again: number;
  /** Listed then, but not any more. */
  removed: number;
  /** The first changed and removed sources, as URIs of files. */
  changedSources: string[];
  removedSources: string[];
}

/** How many URIs of each kind are named. */
const maxNamed = 100;

/**
 * Compares a plan with the earlier output that it was made with. Nothing may have been taken from that output since it
 * was opened.
 */
export async function comparePlan(plan: AsyncIterable<PlanStep>, earlier: EarlierOutput): Promise<Changes> {
  const changes: Changes = {
    kept: 0,
    new: 0,
    changed: 0,
    extended: 0,
    again: 0,
    removed: 0,
    changedSources: [],
    removedSources: [],
  };
  let last: BlockSource | undefined;
  let kind: 'new' | 'changed' | 'again' = 'new';
  for await (const step of plan) {
    if (step.kind === 'shard' && areAllKnown(step.shard.work.sources)) {
      const { count } = step.shard.work.sources;
      changes.extended += count;
      changes.again -= count;
    }
    if (step.kind !== 'sources') continue;
    for (const source of readSources(step.sources)) {
      if (!last || !isSameFile({ ...last, ...last.video }, { ...source, ...source.video })) {
        kind = await kindOf(source, earlier);
        if (kind === 'changed' && changes.changedSources.length < maxNamed)
          changes.changedSources.push(redactUri(source.uri));
      }
      changes[source.kept === undefined ? kind : 'kept']++;
      last = source;
    }
  }
  for (const file of earlier.index.left()) {
    changes.removed += earlier.index.file(file).sources;
    if (changes.removedSources.length < maxNamed) changes.removedSources.push((await earlier.firstLine(file)).uri);
  }
  return changes;
}

async function kindOf({ uri, version }: BlockSource, earlier: EarlierOutput): Promise<'new' | 'changed' | 'again'> {
  const file = earlier.index.take(redactUri(uri));
  if (file === undefined) return 'new';
  const before = (await earlier.firstLine(file)).version;
  return version !== undefined && before !== undefined && version !== before ? 'changed' : 'again';
}
