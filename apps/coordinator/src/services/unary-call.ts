import type { handleUnaryCall, ServerUnaryCall } from '@grpc/grpc-js';
import { CallerGoneError, Refusal } from '@halogrid/jobs/refusal';
import type { Log } from '@halogrid/service';
import { toGrpcStatus } from './grpc-status.ts';

/**
 * Answers a call with the result of `respond`. A rejection becomes the status of the call, and faults of the program
 * are logged. `gone` aborts when the caller does not wait any more, because it has cancelled or its deadline has
 * passed.
 */
export function unaryCall<Request, Response>(
  log: Log,
  respond: (request: Request, gone: AbortSignal, call: ServerUnaryCall<Request, Response>) => Promise<Response>,
): handleUnaryCall<Request, Response> {
  return (call, callback) => {
    const gone = new AbortController();
    call.once('cancelled', () => gone.abort(new CallerGoneError()));
    respond(call.request, gone.signal, call).then(
      (response) => callback(null, response),
      (error) => callback(reportFailure(log, gone.signal.aborted ? gone.signal.reason : error)),
    );
  };
}

export function reportFailure(log: Log, error: unknown): ReturnType<typeof toGrpcStatus> {
  if (!(error instanceof Refusal || error instanceof CallerGoneError)) log.error({ err: error }, 'A call failed');
  return toGrpcStatus(error);
}
