import type { JobSpec } from '@halogrid/proto';
import { checkFits } from './check-fits.ts';
import { type JobPlan, jobPlan, type PlannedRun } from './job-plan.ts';
import { rateKey, readRate } from './rates-file.ts';

/**
 * Plans a job in this process. Throws UsageError where it is refused or cannot fit, and the signal's reason once that
 * has aborted.
 */
export async function makePlan(
  spec: JobSpec,
  { nodes, device }: Pick<PlannedRun, 'nodes' | 'device'>,
  signal?: AbortSignal,
): Promise<JobPlan> {
  const { surveyJob } = await import('@halogrid/coordinator/plan');
  const totals = await surveyJob(spec, signal);
  await checkFits(totals, spec);
  return jobPlan(totals, { nodes, device, pixelsPerSecond: await readRate(rateKey(spec, device, nodes)) });
}
