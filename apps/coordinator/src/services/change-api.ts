import type { IncomingMessage, ServerResponse } from 'node:http';
import type { MayAnswer, SubmitRequest } from '@halogrid/proto';
import type { Access, Log } from '@halogrid/service';
import type { Dispatcher } from '../dispatch/dispatcher.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { checkChange } from './check-change.ts';
import { answerJson, goneSignal, isMethod } from './http-json.ts';
import { parseJobPath } from './job-path.ts';
import { toJobStatus } from './job-status.ts';
import { findJob } from './match-job-id.ts';

export interface ChangeApiOptions {
  dispatcher: Dispatcher;
  ledger: Ledger;
  access: Access;
  /** Accepts a job unless the signal aborts first, because the caller is gone; returns its id. Rejects with Refusal. */
  submit: (request: SubmitRequest, signal: AbortSignal) => Promise<string>;
  log: Log;
}

/**
 * Answers POST of /api/v1/jobs/ID/cancel, which stops the job, and /api/v1/jobs/ID/again, which submits its specification once more;
 * both with the job, for who has the role 'submit'. GET /api/v1/may tells who asks whether that is so.
 */
export function createChangeApi({
  dispatcher,
  ledger,
  access,
  submit,
  log,
}: ChangeApiOptions): (request: IncomingMessage, response: ServerResponse) => boolean {
  const statusOf = async (jobId: string): Promise<object> => {
    const record = await findJob(ledger, jobId);
    return { job: toJobStatus(record, dispatcher.jobNow(record.jobId)) };
  };
  const changes: Record<string, (jobId: string, gone: AbortSignal) => Promise<object>> = {
    cancel: async (given) => {
      const { jobId } = await findJob(ledger, given);
      await dispatcher.cancel(jobId);
      return statusOf(jobId);
    },
    // The ledger has what may be secret in the sources, which no page is told.
    again: async (given, gone) => {
      const { spec } = await findJob(ledger, given);
      return statusOf(await submit({ spec, nameOutByJob: false }, gone));
    },
  };
  return (request, response) => {
    const path = (request.url ?? '').split('?')[0]!;
    if (path === '/api/v1/may') {
      if (isMethod(request, response, ['GET', 'HEAD'])) answerJson(response, log, may(request, access));
      return true;
    }
    const asked = parseJobPath(path);
    const change = asked && Object.hasOwn(changes, asked.word) ? changes[asked.word] : undefined;
    if (!asked || !change) return false;
    if (!isMethod(request, response, ['POST'])) return true;
    request.resume();
    const allowed = Promise.try(() => checkChange(request.headers, access));
    answerJson(
      response,
      log,
      allowed.then(() => change(asked.jobId, goneSignal(response))),
    );
    return true;
  };
}

async function may({ headers }: IncomingMessage, access: Access): Promise<MayAnswer> {
  const denial = access.check(headers.authorization, 'submit');
  return { submit: denial === undefined, why: denial?.sentence ?? '' };
}
