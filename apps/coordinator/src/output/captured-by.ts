import type { Pipeline } from '@halogrid/kernels';
import type { CaptureCounts } from '@halogrid/results/source-tables';
import { jobPipelines } from '../job/accepted-job.ts';
import type { PlanNote } from '../job/shard.ts';
import type { JobResults } from '../ledger/ledger.ts';

/**
 * Whether a job writes when its sources were captured: it does with the histograms of any pipeline. `pipeline` is that of a job
 * whose results are not those of several.
 */
export function writesCaptured(
  { job, parts }: Pick<JobResults, 'job' | 'parts'>,
  pipeline: Pick<Pipeline, 'bins'>,
): boolean {
  const pipelines = parts ? jobPipelines(job.spec) : [pipeline];
  return pipelines.some(({ bins }) => bins > 0);
}

/** What is to be told of times that count for nothing because nobody states their zone. */
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
