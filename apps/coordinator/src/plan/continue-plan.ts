import { isDeepStrictEqual } from 'node:util';
import type { PlanStep } from '../shard.ts';

/**
 * The steps of a plan that follow those recorded, when it is made anew. Throws one sentence where it does not begin as
 * recorded: the sources have changed, and what is done belongs to others.
 */
export async function* continuePlan(
  recorded: AsyncIterable<PlanStep>,
  planned: AsyncIterable<PlanStep>,
): AsyncGenerator<PlanStep> {
  const steps = planned[Symbol.asyncIterator]();
  let lastUri = '';
  try {
    for await (const before of recorded) {
      if (before.kind === 'source') lastUri = before.uri;
      const { value: now, done } = await steps.next();
      if (done || !isDeepStrictEqual(clean(now), clean(before))) throw changed(uriOf(before) ?? lastUri);
    }
    for (let step = await steps.next(); !step.done; step = await steps.next()) yield step.value;
  } finally {
    await steps.return?.();
  }
}

/**
 * As a record keeps it: without fields that are there and undefined, and without results. Versions are left out as well: a
 * source that was written to since is done again by the next job, because the version in the record is the one that counts.
 */
const clean = (step: PlanStep): unknown =>
  JSON.parse(JSON.stringify({ ...step, version: undefined, result: undefined, ...withoutFrameVersions(step) }));

function withoutFrameVersions(step: PlanStep): object {
  if (step.kind !== 'shard' || step.shard.work.kind !== 'frames') return {};
  const { work } = step.shard;
  const sources = work.sources.map((source) => ({ ...source, version: undefined }));
  return { shard: { ...step.shard, work: { ...work, sources } } };
}

/** The first source that a shard is of. A source that is set aside is the last one. */
function uriOf(step: PlanStep): string | undefined {
  if (step.kind !== 'shard') return undefined;
  const { work } = step.shard;
  return work.kind === 'tile' ? work.source.uri : work.sources[0]?.uri;
}

const changed = (uri: string): Error =>
  new Error(
    `The sources changed while the coordinator was away: '${uri}' is planned in another way; run the job again`,
  );
