import type { TraceResponse } from '@halogrid/proto';
import { traceIdOf } from '@halogrid/service/trace-context';
import type { Dispatcher } from '../dispatch/dispatcher.ts';
import { Refusal } from '../job/refusal.ts';
import type { JobRecord } from '../ledger/ledger.ts';
import { toJobStatus } from './job-status.ts';

/** When shards of a job were where, as far as this coordinator saw it. Throws a Refusal where it saw nothing. */
export function jobTrace(record: JobRecord, dispatcher: Pick<Dispatcher, 'timeline' | 'jobNow'>): TraceResponse {
  const { jobId } = record;
  const timeline = dispatcher.timeline(jobId);
  if (!timeline)
    throw new Refusal(
      'unmet',
      `Nothing is known of when job ${jobId} was where: it ended before this coordinator began, or a hundred jobs ago`,
    );
  return { ...timeline, job: toJobStatus(record, dispatcher.jobNow(jobId)), traceId: traceIdOf(jobId) };
}
