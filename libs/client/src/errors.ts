import type { JobStatus } from '@halogrid/proto';

/**
 * Codes with which a coordinator refuses a request because of its contents. The sentence is for the person who asked.
 */
const refusals = [
  'INVALID_ARGUMENT',
  'NOT_FOUND',
  'ALREADY_EXISTS',
  'FAILED_PRECONDITION',
  'OUT_OF_RANGE',
  'UNAUTHENTICATED',
  'PERMISSION_DENIED',
  'RESOURCE_EXHAUSTED',
] as const;

/**
 * Why something failed, as a status code of gRPC; for a job that ended without results, JOB_FAILED or JOB_CANCELLED.
 */
export type ErrorCode =
  | (typeof refusals)[number]
  | 'DEADLINE_EXCEEDED'
  | 'INTERNAL'
  | 'JOB_CANCELLED'
  | 'JOB_FAILED'
  | 'UNAVAILABLE'
  | 'UNIMPLEMENTED'
  | 'UNKNOWN';

/** Whether a request was refused because of its contents: sent again unchanged, it would be refused again. */
export const isRefusal = (code: ErrorCode): boolean => refusals.some((refusal) => refusal === code);

/** A request failed; the message is one sentence. */
export class HalogridError extends Error {
  readonly code: ErrorCode;
  /**
   * The field of the request that is wrong, as the request names it: `grid.rows`, `sources[2]`; undefined if it is not
   * a single field.
   */
  readonly field: string | undefined;

  constructor(
    code: ErrorCode,
    message: string,
    { field, cause }: { field?: string | undefined; cause?: unknown } = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'HalogridError';
    this.code = code;
    this.field = field;
  }
}

/** A job has ended without results. */
export class JobError extends HalogridError {
  /** The job as it ended. */
  readonly status: JobStatus;

  constructor(status: JobStatus) {
    const isFailed = status.state === 'JOB_STATE_FAILED';
    super(
      isFailed ? 'JOB_FAILED' : 'JOB_CANCELLED',
      isFailed ? `Job ${status.jobId} failed: ${status.error}` : `Job ${status.jobId} was cancelled`,
    );
    this.name = 'JobError';
    this.status = status;
  }
}
