import type { IncomingMessage, ServerResponse } from 'node:http';
import type { JobDetail, MergedSoFar } from '@halogrid/proto';
import type { Log } from '@halogrid/service';
import { chromeTrace } from '@halogrid/service/chrome-trace';
import type { Dispatcher } from '../dispatch/dispatcher.ts';
import { jobParts } from '../job/accepted-job.ts';
import { askedPipelines } from '../job/asked-operations.ts';
import { Refusal, refuseValue } from '../job/refusal.ts';
import type { JobRecord, Ledger } from '../ledger/ledger.ts';
import { answerJson, isMethod } from './http-json.ts';
import { parseJobPath } from './job-path.ts';
import { toJobStatus } from './job-status.ts';
import { jobTrace } from './job-trace.ts';
import { findJob } from './match-job-id.ts';
import { quarantinedInputs } from './quarantined-inputs.ts';

/**
 * Answers GET of /api/v1/jobs/ID with the job and what it did over its time, and below it `histogram` (what is merged so far, as long
 * as it is not complete), `quarantined` (inputs that are set aside, by why) and `trace` (when shards were where, for Perfetto). As everywhere, the beginning of an id will do.
 */
export function createJobApi(
  dispatcher: Dispatcher,
  ledger: Ledger,
  log: Log,
): (request: IncomingMessage, response: ServerResponse) => boolean {
  const answers: Record<string, (record: JobRecord, query: URLSearchParams) => Promise<object>> = {
    '': async (record) => jobDetail(record, dispatcher),
    histogram: async (record, query) => mergedSoFar(record, query.get('pipeline'), ledger),
    quarantined: (record) => quarantinedInputs(record, ledger),
    trace: async (record) => chromeTrace(jobTrace(record, dispatcher)),
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

function jobDetail(record: JobRecord, dispatcher: Dispatcher): JobDetail {
  const { jobId } = record;
  const history = dispatcher.history(jobId);
  return {
    job: toJobStatus(record, dispatcher.jobNow(jobId)),
    nowMs: Date.now(),
    asked: askedPipelines(record.spec),
    ...(history && { history }),
  };
}

/** What is merged so far of the pipeline of that name, or of the first. */
function mergedSoFar({ jobId, state, spec, finishedMs }: JobRecord, asked: string | null, ledger: Ledger): MergedSoFar {
  const merged = ledger.mergedSoFar(jobId);
  if (!merged && finishedMs === 0)
    throw new Refusal('unmet', `Job ${jobId} is led by another coordinator, which alone knows what is merged so far`);
  if (!merged)
    throw new Refusal('unmet', `Job ${jobId} is ${state}: what it merged is among its results, if it has any`);
  const parts = jobParts(spec);
  const at = asked === null ? 0 : parts.findIndex(({ name }) => name === asked);
  const [part, sums] = [parts[at], merged[at]];
  if (!part || !sums) refuseValue('pipeline', asked ?? '', `one of ${parts.map(({ name }) => name).join(', ')}`);
  const { output, bins } = part.pipeline;
  return {
    pipelines: parts.map(({ name }) => name),
    pipeline: part.name,
    counted: exact(sums.counted),
    channels: output.channels.map((name, i) => {
      return { name, bins: Array.from(sums.bins.subarray(i * bins, (i + 1) * bins), exact) };
    }),
  };
}

/** Readers of JSON round integers above 2^53. */
const exact = (value: bigint): number | string => (value > 2n ** 53n ? value.toString() : Number(value));
