import { isDeepStrictEqual } from 'node:util';
import { refsOf, unpackStep } from '../job/packed-frames.ts';
import { isRecorded, isTold, type PlannedStep, type PlanStep, type ShardWork } from '../job/shard.ts';

/**
 * The steps of a plan that follow those recorded, when it is made anew. Throws one sentence where it does not begin as
 * recorded: the sources have changed, and what is done belongs to others. Notes are not recorded, so all of them are told again.
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
  /** The steps that one with its sources stands for, less those that are recorded. */
  let parts: PlanStep[] = [];
  let lastUri = '';
  try {
    for await (const before of recorded) {
      if (before.kind === 'source') lastUri = before.uri;
      if (parts.length === 0) {
        let step = await next();
        for (; step && isTold(step); step = await next()) yield [step];
        if (step && isRecorded(step)) parts = unpackStep(step);
      }
      const step = parts.shift();
      if (!step || !isDeepStrictEqual(clean(step), clean(before))) throw changed(uriOf(before) ?? lastUri);
    }
    if (parts.length > 0) yield parts;
    if (at < steps.length) yield steps.slice(at);
    for (let more = await plan.next(); !more.done; more = await plan.next()) yield more.value;
  } finally {
    await plan.return?.();
  }
}

/**
 * As a record keeps it: without fields that are there and undefined, and without results. Versions are left out as well: a
 * source that was written to since is done again by the next job, because the version in the record is the one that counts.
 * So is which sources get a preview: it is those that the record says.
 */
const clean = (step: PlannedStep): unknown =>
  JSON.parse(JSON.stringify({ ...comparedShard(step), version: undefined, result: undefined }));

/** The tiles of an image are all of one version, so that theirs must be the same. */
function comparedShard(step: PlannedStep): PlannedStep {
  if (step.kind !== 'shard') return step;
  const { work } = step.shard;
  const compared: ShardWork =
    work.kind === 'tile'
      ? { ...work, source: { ...work.source, preview: undefined } }
      : { ...work, kind: 'frames', sources: refsOf(work).map(({ version: _, preview: __, ...one }) => one) };
  return { ...step, shard: { ...step.shard, work: compared } };
}

/** The first source that a shard is of. A source that is set aside is the last one. */
function uriOf(step: PlanStep): string | undefined {
  if (step.kind !== 'shard') return undefined;
  return refsOf(step.shard.work)[0]?.uri;
}

const changed = (uri: string): Error =>
  new Error(
    `The sources changed while the coordinator was away: '${uri}' is planned in another way; run the job again`,
  );
