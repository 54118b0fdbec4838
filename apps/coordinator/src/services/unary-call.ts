import type { handleUnaryCall, ServiceError } from '@grpc/grpc-js';
import type { Log } from '@halogrid/service';
import { CallerGoneError, Refusal } from '../job/refusal.ts';
import { toGrpcStatus } from './grpc-status.ts';

/**
 * Has a call answered by what `respond` resolves to; what it rejects with becomes the status of the call, and our own
 * faults are logged. `gone` aborts when the caller does not wait any more, by its own will or its deadline.
 */
export function unaryCall<Request, Response>(
  log: Log,
  respond: (request: Request, gone: AbortSignal) => Promise<Response>,
): handleUnaryCall<Request, Response> {
  return (call, callback) => {
    const gone = new AbortController();
    call.once('cancelled', () => gone.abort(new CallerGoneError()));
    respond(call.request, gone.signal).then(
      (response) => callback(null, response),
      (error) => callback(reportFailure(log, gone.signal.aborted ? gone.signal.reason : error)),
    );
  };
}

export function reportFailure(log: Log, error: unknown): Pick<ServiceError, 'code' | 'details'> {
  if (!(error instanceof Refusal || error instanceof CallerGoneError)) log.error({ err: error }, 'A call failed');
  return toGrpcStatus(error);
}
