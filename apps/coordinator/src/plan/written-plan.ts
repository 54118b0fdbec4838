import { fileURLToPath } from 'node:url';
import type { PlannedStep } from '@halogrid/jobs/shard';
import type { JobSpec } from '@halogrid/proto';
import { isSameWork } from '../output/job-claim.ts';
import { readFolderLog, readLoggedClaim } from '../output/logged-folder.ts';
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
  const folder = fileURLToPath(spec.share.plan);
  const claim = await readLoggedClaim(folder, 'planned');
  if (!isSameWork(claim, spec)) throw new Error(`The plan in '${folder}' is of another job now: run the parts again`);
  const log = await readFolderLog(folder, claim);
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
}
