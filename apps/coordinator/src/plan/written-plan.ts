import type { PlannedStep } from '@halogrid/jobs/shard';
import type { JobSpec } from '@halogrid/proto';
import { placeOfUri } from '@halogrid/results/place';
import { isSameWork } from '../output/job-claim.ts';
import { openLog, readLoggedClaim } from '../output/logged-output.ts';
import { ShareDealer } from './share-dealer.ts';

/** How many steps are yielded together. */
const stepsAtOnce = 256;

/**
 * The steps of the plan that a share names, dealt to it. Rejects with UsageError if there is no such plan, or if it is
 * of another job.
 */
export async function* writtenPlan(
  spec: JobSpec & Required<Pick<JobSpec, 'share'>>,
  signal?: AbortSignal,
): AsyncGenerator<PlannedStep[], void, undefined> {
  const { at } = placeOfUri(spec.share.plan);
  const claim = await readLoggedClaim(at, 'planned');
  if (!isSameWork(claim, spec)) throw new Error(`The plan in '${at}' is of another job now: run the parts again`);
  const { log, close } = await openLog(at, claim);
  try {
    const dealer = new ShareDealer(spec.share);
    let steps: PlannedStep[] = log.notes.map((text) => ({ kind: 'note', text }));
    for (const step of log.plan()) {
      steps.push(step.kind === 'shard' ? { ...step, shard: dealer.deal(step.shard) } : step);
      if (steps.length < stepsAtOnce) continue;
      signal?.throwIfAborted();
      yield steps;
      steps = [];
    }
    yield steps;
  } finally {
    await close();
  }
}
