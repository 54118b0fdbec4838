import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Log, UsageError } from '@halogrid/service';
import type { Dispatcher } from '../dispatch/dispatcher.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { chooseJobs } from './choose-jobs.ts';
import { toJobStatus, toNodeStatus } from './job-status.ts';
import { jobsQuery } from './jobs-query.ts';
import { createResultsApi } from './results-api.ts';
import { createSearchApi } from './search-api.ts';
import type { Searcher } from './searcher.ts';

/**
 * Answers GET /api/v1/jobs, of which a query chooses some (see jobsQuery), and /api/v1/nodes with what the gRPC calls of that name list,
 * as JSON, and what is below /api/v1/jobs/ID/results with the files of a job; createSearchApi adds what finds frames.
 */
export function createJsonApi(
  dispatcher: Dispatcher,
  ledger: Ledger,
  searcher: Searcher,
  log: Log,
): (request: IncomingMessage, response: ServerResponse) => boolean {
  const resources: Record<string, (query: URLSearchParams) => Promise<object>> = {
    '/api/v1/jobs': async (query) => {
      const { chosen, leftOut } = chooseJobs(await ledger.listJobs(), jobsQuery(query, Date.now()));
      return { jobs: chosen.map((record) => toJobStatus(record, dispatcher.jobNow(record.jobId))), leftOut };
    },
    '/api/v1/nodes': async () => ({ nodes: dispatcher.nodes().map(toNodeStatus) }),
  };
  const answerResults = createResultsApi(ledger, log);
  const answerSearch = createSearchApi(searcher, log);
  return (request, response) => {
    if (answerResults(request, response) || answerSearch(request, response)) return true;
    const [path, query] = (request.url ?? '').split('?', 2);
    const read = resources[path!];
    if (!read) return false;
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('allow', 'GET, HEAD');
      send(response, 405, { error: `Expected GET or HEAD but received ${request.method}` });
      return true;
    }
    read(new URLSearchParams(query)).then(
      (body) => send(response, 200, body),
      (error) => {
        if (error instanceof UsageError) return send(response, 400, { error: error.message });
        log.error({ err: error }, 'A request failed');
        send(response, 500, { error: 'The ledger could not be read' });
      },
    );
    return true;
  };
}

/** Answers the same paths on a coordinator that does not lead, with why. */
export function answerStandby(request: IncomingMessage, response: ServerResponse, why: string): boolean {
  if (!(request.url ?? '').startsWith('/api/')) return false;
  send(response, 503, { error: why });
  return true;
}

function send(response: ServerResponse, statusCode: number, body: object): void {
  response.writeHead(statusCode, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(body));
}
