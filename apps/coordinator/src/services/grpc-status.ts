import { type ServiceError, status } from '@grpc/grpc-js';
import { fitting, Refusal, type RefusalKind, whyFailed } from '../job/refusal.ts';

const codes: Record<RefusalKind, status> = {
  invalid: status.INVALID_ARGUMENT,
  missing: status.NOT_FOUND,
  gone: status.FAILED_PRECONDITION,
  unmet: status.FAILED_PRECONDITION,
  forbidden: status.PERMISSION_DENIED,
  exhausted: status.RESOURCE_EXHAUSTED,
  unavailable: status.UNAVAILABLE,
};

/** The status that a call ends with. Anything that is no Refusal is our own fault: INTERNAL. */
export function toGrpcStatus(error: unknown): Pick<ServiceError, 'code' | 'details'> {
  if (error instanceof Refusal) return { code: codes[error.kind], details: error.message };
  return { code: status.INTERNAL, details: fitting(whyFailed(error)) };
}
