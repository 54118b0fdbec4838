import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Log, UsageError } from '@halogrid/service';
import { CallerGoneError, Refusal, type RefusalKind } from '../job/refusal.ts';
import { NoResult } from './results-folder.ts';

const statusCodes: Record<RefusalKind, number> = {
  invalid: 400,
  forbidden: 403,
  missing: 404,
  unmet: 409,
  exhausted: 429,
  unavailable: 503,
};

export function sendJson(response: ServerResponse, statusCode: number, body: object): void {
  response
    .writeHead(statusCode, {
      'content-type': 'application/json; charset=utf-8',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
    })
    .end(JSON.stringify(body));
}

/** Whether the method is one of those; if not, the caller is told so. */
export function isMethod(request: IncomingMessage, response: ServerResponse, methods: readonly string[]): boolean {
  if (methods.includes(request.method ?? '')) return true;
  response.setHeader('allow', methods.join(', '));
  sendJson(response, 405, { error: `Expected ${methods.join(' or ')} but received ${request.method}` });
  return false;
}

/** Aborts when the caller is gone before the answer. */
export function goneSignal(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  const look = (): void => {
    if (!response.writableFinished) gone.abort(new CallerGoneError());
  };
  if (response.destroyed) look();
  else response.once('close', look);
  return gone.signal;
}

/** Sends what `answer` resolves to, or why there is no answer, in one sentence. */
export function answerJson(response: ServerResponse, log: Log, answer: Promise<object>): void {
  answer.then(
    (body) => sendJson(response, 200, body),
    (error) => sendError(response, log, error),
  );
}

/** Says in one sentence why there is no answer; what is not the caller's fault goes to the log. */
export function sendError(response: ServerResponse, log: Log, error: unknown): void {
  if (error instanceof CallerGoneError || response.destroyed) return;
  const statusCode = statusCodeOf(error);
  if (statusCode === 500) log.error({ err: error }, 'A request failed');
  const ours = 'The request failed; the log of the coordinator says why';
  sendJson(response, statusCode, { error: statusCode === 500 ? ours : (error as Error).message });
}

function statusCodeOf(error: unknown): number {
  if (error instanceof UsageError) return 400;
  if (error instanceof Refusal) return statusCodes[error.kind];
  return error instanceof NoResult ? error.statusCode : 500;
}
