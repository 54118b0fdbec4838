import { type ServiceError, status } from '@grpc/grpc-js';
import { fitting, Refusal, type RefusalKind, whyFailed } from '@halogrid/jobs/refusal';
import { refusalMetadata } from '@halogrid/service/refusal-metadata';

const codes: Record<RefusalKind, status> = {
  invalid: status.INVALID_ARGUMENT,
  missing: status.NOT_FOUND,
  gone: status.FAILED_PRECONDITION,
  unmet: status.FAILED_PRECONDITION,
  forbidden: status.PERMISSION_DENIED,
  unsupported: status.INVALID_ARGUMENT,
  exhausted: status.RESOURCE_EXHAUSTED,
  unavailable: status.UNAVAILABLE,
};

/** The status that a call ends with, and its metadata. Anything that is no Refusal is our own fault: INTERNAL. */
export function toGrpcStatus(error: unknown): Pick<ServiceError, 'code' | 'details'> & Partial<ServiceError> {
  if (error instanceof Refusal) {
    const { kind, message, sentence, field } = error;
    return { code: codes[kind], details: message, ...(field && { metadata: refusalMetadata(sentence, field) }) };
  }
  return { code: status.INTERNAL, details: fitting(whyFailed(error)) };
}
