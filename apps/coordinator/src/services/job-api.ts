import type { IncomingMessage, ServerResponse } from 'node:http';
import type { JobDetail } from '@halogrid/proto';
import type { Log } from '@halogrid/service';
import { chromeTrace } from '@halogrid/service/chrome-trace';
import type { Dispatcher } from '../dispatch/dispatcher.ts';
import { askedPipelines } from '../job/asked-operations.ts';
import type { JobRecord, Ledger } from '../ledger/ledger.ts';
import { answerJson, isMethod } from './http-json.ts';
import type { JobAnswers } from './job-answers.ts';
import { parseJobPath } from './job-path.ts';
import { toJobStatus } from './job-status.ts';
import { jobTrace } from './job-trace.ts';
import { findJob } from './match-job-id.ts';

/**
 * Answers GET of /api/v1/jobs/ID with the job and what it did over its time, and below it `histogram` (what is merged so far, as long
 * as it is not complete), `quarantined` (inputs that are set aside, by why) and `trace` (when shards were where, for Perfetto). As everywhere, the beginning of an id will do.
 */
export function createJobApi(
  dispatcher: Dispatcher,
  ledger: Ledger,
  known: JobAnswers,
  log: Log,
): (request: IncomingMessage, response: ServerResponse) => boolean {
  const answers: Record<string, (record: JobRecord, query: URLSearchParams) => Promise<object>> = {
    '': (record) => jobDetail(record, dispatcher, known),
    histogram: (record, query) => known.merged(record, query.get('pipeline')),
    quarantined: (record) => known.quarantined(record),
    trace: async (record) => chromeTrace(await jobTrace(record, dispatcher, known)),
  };
  return (request, response) => {
    const [path = '', query = ''] = (request.url ?? '').split(/\?(.*)/s);
    const asked = parseJobPath(path);
    const answer = asked && Object.hasOwn(answers, asked.word) ? answers[asked.word] : undefined;
    if (!asked || !answer) return false;
    if (!isMethod(request, response, ['GET', 'HEAD'])) return true;
    const found = findJob(ledger, asked.jobId);
    answerJson(
      response,
      log,
      found.then((record) => answer(record, new URLSearchParams(query))),
    );
    return true;
  };
}

async function jobDetail(record: JobRecord, dispatcher: Dispatcher, known: JobAnswers): Promise<JobDetail> {
  const history = await known.history(record);
  return {
    job: toJobStatus(record, dispatcher.jobNow(record.jobId)),
    nowMs: Date.now(),
    asked: askedPipelines(record.spec),
    ...(history && { history }),
  };
}
