import type { IncomingMessage, ServerResponse } from 'node:http';
import { CallerGoneError, Refusal, type RefusalKind } from '@halogrid/jobs/refusal';
import { errorAnswer } from '@halogrid/proto/error-answer';
import type { Log } from '@halogrid/service';
import { sendJson } from '@halogrid/service/send-json';

/** A status of HTTP for each kind of refusal. */
const statuses: Record<RefusalKind, number> = {
  invalid: 400,
  forbidden: 403,
  missing: 404,
  unmet: 409,
  gone: 410,
  unsupported: 415,
  exhausted: 429,
  unavailable: 503,
};

/** Tells a caller who used another method which methods the path has. */
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
 * Says in one sentence why there is no answer; an error that is not the caller's fault goes to the log. `nameOf` gives
 * a field of the .proto files the name that the request has for it.
 */
export function sendError(
  request: IncomingMessage,
  response: ServerResponse,
  log: Log,
  error: unknown,
  nameOf: (field: string) => string = (field) => field,
): void {
  if (error instanceof CallerGoneError || response.destroyed) return;
  // By now only a truncated answer can show the failure. Mostly the reader has left.
  if (response.headersSent) return void response.destroy();
  const isTheirs = error instanceof Refusal;
  if (!isTheirs) log.error({ err: error }, 'A request failed');
  const answer = isTheirs
    ? errorAnswer(error.code, error.sentence.naming(nameOf), error.field && nameOf(error.field))
    : errorAnswer('INTERNAL', ourFault);
  sendJson(request, response, isTheirs ? statuses[error.kind] : 500, answer).catch(() => response.destroy());
}

const ourFault = 'The request failed; the log of the coordinator says why';
