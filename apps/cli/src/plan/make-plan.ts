import type { JobSpec } from '@halogrid/proto';
import { checkFits } from './check-fits.ts';
import { type JobPlan, jobPlan, type PlannedRun } from './job-plan.ts';
import { rateKey, readRate } from './rates-file.ts';

/**
 * Plans a job in this process; `notes` are sentences on what the plan leaves out. Throws UsageError where it is refused or cannot fit, and the signal's reason once that
 * has aborted.
 */
export async function makePlan(
  spec: JobSpec,
  { nodes, device }: Pick<PlannedRun, 'nodes' | 'device'>,
  signal?: AbortSignal,
): Promise<JobPlan & { notes: string[] }> {
  const { surveyJob } = await import('@halogrid/coordinator/plan');
  const notes: string[] = [];
  const totals = await surveyJob(spec, signal, (note) => notes.push(note));
  await checkFits(totals, spec);
  const pixelsPerSecond = await readRate(rateKey(spec, device, nodes));
  return { ...jobPlan(totals, { nodes, device, pixelsPerSecond }), notes };
}
