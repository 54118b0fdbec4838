import type { Pipeline } from '@halogrid/kernels';
import { type CaptureOrigin, CaptureRule } from '@halogrid/sources/captured';
import { jobPipelines } from '../job/accepted-job.ts';
import type { PlanNote } from '../job/shard.ts';
import type { JobResults } from '../ledger/ledger.ts';

/**
 * How many sources that are done have a capture time from where; undefined for a job that writes none. `pipeline` is that of a job
 * whose results are not those of several.
 */
export function capturedBy(
  { job, sources, parts }: Pick<JobResults, 'job' | 'sources' | 'parts'>,
  pipeline: Pick<Pipeline, 'bins'>,
): Partial<Record<CaptureOrigin, number>> | undefined {
  const pipelines = parts ? jobPipelines(job.spec) : [pipeline];
  if (pipelines.every(({ bins }) => bins === 0)) return undefined;
  const rule = new CaptureRule(job.spec.captured);
  const counts: Partial<Record<CaptureOrigin, number>> = {};
  for (const source of sources) {
    if (source.state === 'quarantined') continue;
    const origin = rule.origin(source);
    counts[origin] = (counts[origin] ?? 0) + 1;
  }
  return counts;
}

/** What is to be told of times that count for nothing because nobody states their zone. */
export function zonelessNotes(counts: ReturnType<typeof capturedBy>): PlanNote[] {
  const inputs = counts?.zoneless ?? 0;
  if (inputs === 0) return [];
  const which = inputs === 1 ? '1 input states' : `${inputs} inputs state`;
  return [
    {
      kind: 'note',
      text: `${which} a capture time without a zone: captured_at is null there, and --captured-zone would tell it`,
    },
  ];
}
