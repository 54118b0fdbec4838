import type { IncomingMessage, ServerResponse } from 'node:http';
import { borderModes, kernelForms } from '@halogrid/kernels';
import type { KernelsAnswer } from '@halogrid/proto';
import { mapFormats } from '@halogrid/proto/job-limits';
import { Refusal } from '../job/refusal.ts';
import type { PlanThreads } from '../plan/plan-threads.ts';
import type { ChangeApiOptions } from './change-api.ts';
import { checkChange } from './check-change.ts';
import { answerJson, goneSignal, isMethod } from './http-json.ts';
import { readJobForm } from './job-form.ts';
import { toJobStatus } from './job-status.ts';
import { listFolder } from './list-folder.ts';
import { findJob } from './match-job-id.ts';
import { planForm } from './plan-form.ts';
import { readJsonBody } from './read-json-body.ts';

/**
 * Answers what a page submits a job with: GET /api/v1/kernels, the catalogue as forms; GET /api/v1/folder, what sources there are; POST
 * /api/v1/plan, what a job comes to; POST /api/v1/jobs, which submits it. All but the first are for who has the role 'submit'.
 */
export function createSubmitApi({
  dispatcher,
  ledger,
  access,
  submit,
  survey,
  log,
}: ChangeApiOptions & { survey: PlanThreads['survey'] }): (
  request: IncomingMessage,
  response: ServerResponse,
) => boolean {
  const reads: Record<string, (request: IncomingMessage, query: URLSearchParams) => Promise<object>> = {
    '/api/v1/kernels': async () => kernelsAnswer(),
    '/api/v1/folder': async ({ headers }, query) => {
      const denial = access.check(headers.authorization, 'submit');
      if (denial) throw new Refusal('forbidden', denial.sentence);
      return listFolder(query.get('path') ?? '');
    },
  };
  const changes: Record<string, (form: unknown, gone: AbortSignal) => Promise<object>> = {
    '/api/v1/plan': async (form, gone) => planForm(readJobForm(form).spec!, survey, gone),
    '/api/v1/jobs': async (form, gone) => {
      const record = await findJob(ledger, await submit(readJobForm(form), gone));
      return { job: toJobStatus(record, dispatcher.jobNow(record.jobId)) };
    },
  };
  return (request, response) => {
    const [path = '', query = ''] = (request.url ?? '').split(/\?(.*)/s);
    const read = Object.hasOwn(reads, path) ? reads[path] : undefined;
    if (read) {
      if (!isMethod(request, response, ['GET', 'HEAD'])) return true;
      answerJson(
        response,
        log,
        Promise.try(() => read(request, new URLSearchParams(query))),
      );
      return true;
    }
    const change = Object.hasOwn(changes, path) ? changes[path] : undefined;
    // The list of jobs has the same path, for those who read.
    if (!change || (path === '/api/v1/jobs' && request.method !== 'POST')) return false;
    if (!isMethod(request, response, ['POST'])) return true;
    const answer = async () => {
      checkChange(request.headers, access);
      return change(await readJsonBody(request), goneSignal(response));
    };
    const answered = answer();
    // What is left of a body that is refused is not waited for.
    answered.catch(() => request.complete || response.setHeader('connection', 'close'));
    answerJson(response, log, answered);
    return true;
  };
}

/** What a form of a pipeline is made of. */
const kernelsAnswer = (): KernelsAnswer => ({
  kernels: kernelForms(),
  borders: [...borderModes],
  mapFormats: [...mapFormats],
});
