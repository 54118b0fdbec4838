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
import type { AskedHistogram } from './merged-so-far.ts';

/**
 * Answers GET of /api/v1/jobs/ID with the job and what it did over its time; with `?merged=PIPELINE`, where an empty name is the first
 * pipeline, it adds what is merged so far of a job that has not ended, and with `&cell=ROW,COLUMN` of that cell alone. Below it are
 * `histogram?pipeline=PIPELINE&cell=ROW,COLUMN` (what is merged alone), `quarantined`
 * (inputs that are set aside, by why) and `trace` (when shards were where, for Perfetto). As everywhere, the beginning of an id will do.
 */
export function createJobApi(
  dispatcher: Dispatcher,
  ledger: Ledger,
  known: JobAnswers,
  log: Log,
): (request: IncomingMessage, response: ServerResponse) => boolean {
  const answers: Record<string, (record: JobRecord, query: URLSearchParams) => Promise<object>> = {
    '': (record, query) => jobDetail(record, query, dispatcher, known),
    histogram: (record, query) => known.merged(record, askedHistogram(query.get('pipeline'), query)),
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

async function jobDetail(
  record: JobRecord,
  query: URLSearchParams,
  dispatcher: Dispatcher,
  known: JobAnswers,
): Promise<JobDetail> {
  const asked = query.get('merged');
  // In one answer: a page that asked for it after the status would be refused it where the job ends in between.
  const [history, merged] = await Promise.all([
    known.history(record),
    asked === null ? undefined : known.mergedSoFar(record, askedHistogram(asked || null, query)),
  ]);
  return {
    job: toJobStatus(record, dispatcher.jobNow(record.jobId)),
    nowMs: Date.now(),
    asked: askedPipelines(record.spec),
    ...(history && { history }),
    ...(merged && { merged }),
  };
}

function askedHistogram(pipeline: string | null, query: URLSearchParams): AskedHistogram {
  const cell = query.get('cell');
  return { ...(pipeline !== null && { pipeline }), ...(cell !== null && { cell }) };
}
