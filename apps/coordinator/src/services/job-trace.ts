import { Refusal } from '@halogrid/jobs/refusal';
import type { JobRecord } from '@halogrid/ledger';
import type { TraceResponse } from '@halogrid/proto';
import { traceIdOf } from '@halogrid/service/trace-context';
import type { WorkView } from '../dispatch/work-view.ts';
import type { JobAnswers } from './job-answers.ts';
import { toJobStatus } from './job-status.ts';

/**
 * When each shard of a job was on which node, as far as its last leader saw it. Rejects with Refusal if nothing is
 * known.
 */
export async function jobTrace(
  record: JobRecord,
  view: Pick<WorkView, 'jobNow'>,
  known: JobAnswers,
): Promise<TraceResponse> {
  const { jobId } = record;
  const timeline = await known.timeline(record);
  if (!timeline)
    throw new Refusal(
      'unmet',
      `Nothing is known of when shards of job ${jobId} were on which node: it ended before this coordinator began, or a hundred jobs ago`,
    );
  return { ...timeline, job: toJobStatus(record, view.jobNow(jobId)), traceId: traceIdOf(jobId) };
}
