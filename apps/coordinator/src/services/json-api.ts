import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Log } from '@halogrid/service';
import type { Dispatcher } from '../dispatch/dispatcher.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { toJobStatus, toNodeStatus } from './job-status.ts';
import { createResultsApi } from './results-api.ts';
import { createSearchApi } from './search-api.ts';
import type { Searcher } from './searcher.ts';

/**
 * Answers GET /api/v1/jobs and /api/v1/nodes with what the gRPC calls of that name list, as JSON, and what is below
 * /api/v1/jobs/ID/results with the files of a job; createSearchApi adds what finds frames.
 */
export function createJsonApi(
  dispatcher: Dispatcher,
  ledger: Ledger,
  searcher: Searcher,
  log: Log,
): (request: IncomingMessage, response: ServerResponse) => boolean {
  const resources: Record<string, () => Promise<object>> = {
    '/api/v1/jobs': async () => {
      const records = await ledger.listJobs();
      return { jobs: records.map((record) => toJobStatus(record, dispatcher.jobNow(record.jobId))) };
    },
    '/api/v1/nodes': async () => ({ nodes: dispatcher.nodes().map(toNodeStatus) }),
  };
  const answerResults = createResultsApi(ledger, log);
  const answerSearch = createSearchApi(searcher, log);
  return (request, response) => {
    if (answerResults(request, response) || answerSearch(request, response)) return true;
    const read = resources[(request.url ?? '').split('?')[0]!];
    if (!read) return false;
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('allow', 'GET, HEAD');
      send(response, 405, { error: `Expected GET or HEAD but received ${request.method}` });
      return true;
    }
    read().then(
      (body) => send(response, 200, body),
      (error) => {
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
