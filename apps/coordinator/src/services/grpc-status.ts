import { type ServiceError, status } from '@grpc/grpc-js';
import { fitting, Refusal, whyFailed } from '@halogrid/jobs/refusal';
import { refusalMetadata } from '@halogrid/service/refusal-metadata';

/** The status that a call ends with, and its metadata. An error that is not a Refusal is our own fault: INTERNAL. */
export function toGrpcStatus(error: unknown): Pick<ServiceError, 'code' | 'details'> & Partial<ServiceError> {
  if (error instanceof Refusal) {
    const { code, message, sentence, field } = error;
    return { code: status[code], details: message, ...(field && { metadata: refusalMetadata(sentence, field) }) };
  }
  return { code: status.INTERNAL, details: fitting(whyFailed(error)) };
}
