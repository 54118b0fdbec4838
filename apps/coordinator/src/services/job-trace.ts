import { Refusal } from '@halogrid/jobs/refusal';
import type { JobRecord } from '@halogrid/ledger';
import type { TraceResponse } from '@halogrid/proto';
import { traceIdOf } from '@halogrid/service/trace-context';
import type { WorkView } from '../dispatch/work-view.ts';
import type { JobAnswers } from './job-answers.ts';
import { toJobStatus } from './job-status.ts';

/**
 * Which node worked on which shard of a job, and when, as far as the job's last leader saw it. Rejects with a Refusal
 * if no coordinator knows.
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
      `Nothing is known of when job ${jobId} was where: it ended before this coordinator began, or a hundred jobs ago`,
    );
  return { ...timeline, job: toJobStatus(record, view.jobNow(jobId)), traceId: traceIdOf(jobId) };
}
