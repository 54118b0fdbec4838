import type { IncomingMessage, ServerResponse } from 'node:http';
import type { JobsAnswer, NodesAnswer } from '@halogrid/proto';
import type { Access, Log } from '@halogrid/service';
import type { Dispatcher } from '../dispatch/dispatcher.ts';
import { askedPipelines } from '../job/asked-operations.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { PlanThreads } from '../plan/plan-threads.ts';
import type { Retrieval } from '../retrieval/retrieval.ts';
import { type ChangeApiOptions, createChangeApi } from './change-api.ts';
import { chooseJobs } from './choose-jobs.ts';
import { answerJson, isMethod, sendJson } from './http-json.ts';
import type { JobAnswers } from './job-answers.ts';
import { createJobApi } from './job-api.ts';
import { toJobStatus, toNodeDetail } from './job-status.ts';
import { jobsQuery } from './jobs-query.ts';
import { createResultsApi } from './results-api.ts';
import { createSearchApi } from './search-api.ts';
import type { Searcher } from './searcher.ts';
import { createSubmitApi } from './submit-api.ts';
import { createViewerApi } from './viewer-api.ts';

export interface JsonApiOptions {
  dispatcher: Dispatcher;
  ledger: Ledger;
  known: JobAnswers;
  searcher: Searcher;
  retrieval: Pick<Retrieval, 'ask'>;
  /** Who may change something; who may read is known by whoever asks this. */
  access: Access;
  submit: ChangeApiOptions['submit'];
  /** What a job would come to. */
  survey: PlanThreads['survey'];
  log: Log;
  /** The port at which users' commands reach this coordinator. */
  grpcPort: number;
}

/**
 * Answers GET /api/v1/jobs, of which a query chooses some (see jobsQuery), and /api/v1/nodes with what the gRPC calls of that name list,
 * as JSON, and what is below /api/v1/jobs/ID/results with the files of a job; createJobApi adds what is known of one job, createChangeApi
 * what changes one, createSearchApi what finds frames.
 */
export function createJsonApi(
  options: JsonApiOptions,
): (request: IncomingMessage, response: ServerResponse) => boolean {
  const { dispatcher, ledger, searcher, log } = options;
  const resources: Record<string, (query: URLSearchParams) => Promise<object>> = {
    '/api/v1/jobs': async (query) => {
      const { chosen, leftOut } = chooseJobs(await ledger.listJobs(), jobsQuery(query, Date.now()));
      const jobs = chosen.map((record) => {
        return { ...toJobStatus(record, dispatcher.jobNow(record.jobId)), asked: askedPipelines(record.spec) };
      });
      return { jobs, leftOut } satisfies JobsAnswer;
    },
    '/api/v1/nodes': async () => {
      return { nodes: dispatcher.nodes().map(toNodeDetail), left: dispatcher.leftNodes() } satisfies NodesAnswer;
    },
  };
  const apis = [
    createResultsApi(ledger, options.grpcPort, log),
    createSearchApi(searcher, log),
    createJobApi(dispatcher, ledger, options.known, log),
    createChangeApi(options),
    createSubmitApi(options),
    createViewerApi(ledger, options.retrieval, log),
  ];
  return (request, response) => {
    if (apis.some((answer) => answer(request, response))) return true;
    const [path, query] = (request.url ?? '').split('?', 2);
    const read = resources[path!];
    if (!read) return false;
    if (isMethod(request, response, ['GET', 'HEAD'])) answerJson(response, log, read(new URLSearchParams(query)));
    return true;
  };
}

/** Answers the same paths on a coordinator that does not lead, with why. */
export function answerStandby(request: IncomingMessage, response: ServerResponse, why: string): boolean {
  if (!(request.url ?? '').startsWith('/api/')) return false;
  sendJson(response, 503, { error: why });
  return true;
}
