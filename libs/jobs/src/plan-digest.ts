import { createHash } from 'node:crypto';
import type { BlockSource } from '@halogrid/sources/source-block';
import { readSources } from './planned-sources.ts';
import type { PlanStep, Shard } from './shard.ts';

/**
 * The SHA-256 of a plan: equal if and only if the plans have the same sources with the same versions and names, cut in
 * the same way. Who does which shard does not matter, nor which sources were among those with a preview for a time.
 */
export async function planDigest(steps: AsyncIterable<PlanStep> | Iterable<PlanStep>): Promise<string> {
  const hash = createHash('sha256').update('halogrid plan 1\n');
  for await (const step of steps) {
    if (step.kind === 'shard') hash.update(`${shardText(step.shard)}\n`);
    else for (const source of readSources(step.sources)) hash.update(`${sourceText(source)}\n`);
  }
  return hash.digest('hex');
}

/** A source in a text that is equal for equal sources. */
export const sourceText = ({ preview: _, known: __, ...source }: BlockSource): string => JSON.stringify(source);

function shardText({ work, shard, costBytes }: Shard): string {
  const { sources, ...rest } = work;
  return JSON.stringify({ shard, costBytes, ...rest, runs: [...sources.runs] });
}
