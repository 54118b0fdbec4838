import { type ServiceError, status } from '@grpc/grpc-js';
import { UsageError } from '@halogrid/service';

/** Codes with which a coordinator refuses a request for what it says. Its sentence is for the person who asked. */
const refusals = new Set([
  status.INVALID_ARGUMENT,
  status.NOT_FOUND,
  status.ALREADY_EXISTS,
  status.FAILED_PRECONDITION,
  status.OUT_OF_RANGE,
  status.UNAUTHENTICATED,
  status.PERMISSION_DENIED,
  status.RESOURCE_EXHAUSTED,
]);

/** One sentence for a failed call: a UsageError where the request was wrong, an Error otherwise. */
export function callError(error: unknown, address: string): Error {
  if (!isServiceError(error)) return error instanceof Error ? error : new Error(String(error));
  if (refusals.has(error.code)) return new UsageError(error.details);
  switch (error.code) {
    case status.UNAVAILABLE:
      return new Error(`No coordinator answers at ${address}: is one running there ('halogrid coordinator')?`);
    case status.DEADLINE_EXCEEDED:
      return new Error(`The coordinator at ${address} did not answer in time`);
    case status.UNIMPLEMENTED:
      return new Error(`What answers at ${address} is no coordinator of this version of halogrid`);
    default:
      return new Error(`The coordinator at ${address} failed: ${error.details || status[error.code]}`);
  }
}

function isServiceError(error: unknown): error is ServiceError {
  return error instanceof Error && typeof (error as Partial<ServiceError>).code === 'number' && 'details' in error;
}
