import { jobPipelines } from '@halogrid/jobs/accepted-job';
import type { PlanNote } from '@halogrid/jobs/shard';
import type { Pipeline } from '@halogrid/kernels';
import type { JobResults } from '@halogrid/ledger';
import type { CaptureCounts } from '@halogrid/results/source-tables';

/**
 * Whether a job writes capture times: it does if any pipeline has a histogram. `pipeline` is the single pipeline of a
 * job without named ones.
 */
export function writesCaptured(
  { job, parts }: Pick<JobResults, 'job' | 'parts'>,
  pipeline: Pick<Pipeline, 'bins'>,
): boolean {
  const pipelines = parts ? jobPipelines(job.spec) : [pipeline];
  return pipelines.some(({ bins }) => bins > 0);
}

/** The note about times that are not used because no zone is stated. */
export function zonelessNotes(counts: CaptureCounts | undefined): PlanNote[] {
  const inputs = counts?.zoneless ?? 0;
  if (inputs === 0) return [];
  const which = inputs === 1 ? '1 input states' : `${inputs} inputs state`;
  return [
    {
      kind: 'note',
      text: `${which} a capture time without a zone: captured_at is null there. Run the same again with the zone (--captured-zone, captured.zone): that adds the times and computes nothing`,
    },
  ];
}
