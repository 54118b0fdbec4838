import type { handleUnaryCall, ServiceError } from '@grpc/grpc-js';
import type { Log } from '@halogrid/service';
import { Refusal } from '../job/refusal.ts';
import { toGrpcStatus } from './grpc-status.ts';

/** Has a call answered by what `respond` resolves to; what it rejects with becomes the status of the call, and our own faults are logged. */
export function unaryCall<Request, Response>(
  log: Log,
  respond: (request: Request) => Promise<Response>,
): handleUnaryCall<Request, Response> {
  return (call, callback) => {
    respond(call.request).then(
      (response) => callback(null, response),
      (error) => callback(reportFailure(log, error)),
    );
  };
}

export function reportFailure(log: Log, error: unknown): Pick<ServiceError, 'code' | 'details'> {
  if (!(error instanceof Refusal)) log.error({ err: error }, 'A call failed');
  return toGrpcStatus(error);
}
