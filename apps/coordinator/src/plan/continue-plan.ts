import { isDeepStrictEqual } from 'node:util';
import { type PlannedSources, readSources } from '@halogrid/jobs/planned-sources';
import { isTold, type PlannedStep, type PlanStep, type Shard } from '@halogrid/jobs/shard';
import type { BlockSource } from '@halogrid/sources/source-block';

/**
 * The steps of a repeated plan that follow the recorded steps. Throws one sentence if the plan does not begin as
 * recorded: then the sources have changed, and the results so far belong to other sources. Notes are not recorded, so
 * all of them come again.
 */
export async function* continuePlan(
  recorded: AsyncIterable<PlanStep>,
  planned: AsyncIterable<readonly PlannedStep[]>,
): AsyncGenerator<readonly PlannedStep[]> {
  const plan = planned[Symbol.asyncIterator]();
  let steps: readonly PlannedStep[] = [];
  let at = 0;
  const next = async (): Promise<PlannedStep | undefined> => {
    while (at === steps.length) {
      const { value, done } = await plan.next();
      if (done) return undefined;
      steps = value;
      at = 0;
    }
    return steps[at++];
  };
  try {
    for await (const before of recorded) {
      let step = await next();
      for (; step && isTold(step); step = await next()) yield [step];
      const uri = changedUri(before, step);
      if (uri !== undefined) throw changed(uri);
    }
    if (at < steps.length) yield steps.slice(at);
    for (let more = await plan.next(); !more.done; more = await plan.next()) yield more.value;
  } finally {
    await plan.return?.();
  }
}

/** A source of the recorded step that is planned differently now; undefined if there is none. */
function changedUri(before: PlanStep, now: PlannedStep | undefined): string | undefined {
  if (before.kind === 'sources')
    return changedSource(before.sources, now?.kind === 'sources' ? now.sources : undefined);
  const isSame = now?.kind === 'shard' && isDeepStrictEqual(compared(before.shard), compared(now.shard));
  return isSame ? undefined : before.shard.work.sources.uri;
}

function changedSource(before: PlannedSources, now: PlannedSources | undefined): string | undefined {
  if (now && Buffer.compare(before.block, now.block) === 0) return undefined;
  const sources = now ? [...readSources(now)].values() : [].values();
  for (const source of readSources(before)) {
    const { value } = sources.next();
    if (!value || !isDeepStrictEqual(comparedSource(source), comparedSource(value))) return source.uri;
  }
  return sources.next().done ? undefined : before.uri;
}

/**
 * Without versions and sizes: the recorded version counts, and if a source was written to since, the next job does it
 * again. Only an image in tiles must have the same version, because all its tiles must. Also without the choice of
 * previews: the recorded choice counts.
 */
function comparedSource({ version: _, sizeBytes: __, preview: ___, pin, ...source }: BlockSource): unknown {
  return source.tiles === undefined ? source : { ...source, pin };
}

/** Without source blocks: the sources of a shard are compared before it. */
const compared = ({ work, ...shard }: Shard): unknown => {
  return JSON.parse(JSON.stringify({ ...shard, work: { ...work, sources: [...work.sources.runs] } }));
};

const changed = (uri: string): Error =>
  new Error(
    `The sources changed while the coordinator was away: '${uri}' is planned in another way; run the job again`,
  );
