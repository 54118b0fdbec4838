import type { IncomingMessage, ServerResponse } from 'node:http';
import { CallerGoneError, Refusal, type RefusalKind } from '@halogrid/jobs/refusal';
import { errorAnswer } from '@halogrid/proto/error-answer';
import type { Log } from '@halogrid/service';
import { sendJson } from '@halogrid/service/send-json';

/** A status of HTTP for each kind of refusal, and the name that gRPC has for it. */
const refusals: Record<RefusalKind | 'ours', [status: number, code: string]> = {
  invalid: [400, 'INVALID_ARGUMENT'],
  forbidden: [403, 'PERMISSION_DENIED'],
  missing: [404, 'NOT_FOUND'],
  unmet: [409, 'FAILED_PRECONDITION'],
  gone: [410, 'FAILED_PRECONDITION'],
  unsupported: [415, 'INVALID_ARGUMENT'],
  exhausted: [429, 'RESOURCE_EXHAUSTED'],
  unavailable: [503, 'UNAVAILABLE'],
  ours: [500, 'INTERNAL'],
};

/** Tells a caller that used another method which ones the path has. */
export function sendMethods(request: IncomingMessage, response: ServerResponse, methods: readonly string[]): void {
  response.setHeader('allow', methods.join(', '));
  const error = `Expected ${methods.join(' or ')} but received ${request.method}`;
  void sendJson(request, response, 405, errorAnswer('UNIMPLEMENTED', error));
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

/**
 * Says in one sentence why there is no answer; what is not the caller's fault goes to the log. `nameOf` gives a field of the .proto files
 * the name that the request has for it.
 */
export function sendError(
  request: IncomingMessage,
  response: ServerResponse,
  log: Log,
  error: unknown,
  nameOf: (field: string) => string = (field) => field,
): void {
  if (error instanceof CallerGoneError || response.destroyed) return;
  // Only truncation can signal failure by now. Mostly it was the reader who left.
  if (response.headersSent) return void response.destroy();
  const isTheirs = error instanceof Refusal;
  const [statusCode, code] = refusals[isTheirs ? error.kind : 'ours'];
  if (!isTheirs) log.error({ err: error }, 'A request failed');
  const answer = isTheirs
    ? errorAnswer(code, error.sentence.naming(nameOf), error.field && nameOf(error.field))
    : errorAnswer(code, ourFault);
  sendJson(request, response, statusCode, answer).catch(() => response.destroy());
}

const ourFault = 'The request failed; the log of the coordinator says why';
