import type { InputFault } from '../input-error.ts';

/**
 * How a request failed: the status of its answer, the error code of the connection, or an answer that did not come in
 * time or ended early.
 */
export type TransferFailure = { status: number } | { code: string } | 'late' | 'cut';

/** What is at fault for a failed request. `access`: only the requested object; the others: its host or bucket. */
export type TransferFault = Extract<InputFault, 'access' | 'away' | 'closed'>;

/**
 * What is at fault for a failed request. Its host may be `away`: no connection, no address, no answer in time, or a
 * status of 408, 429 or 5xx. Or it may be `closed` (401, 403, 407). Either is certain only once another request fails
 * in the same way. All other answers (404, 410 …) are about the requested object.
 */
export function transferFault(failure: TransferFailure): TransferFault {
  if (typeof failure === 'string' || 'code' in failure) return 'away';
  const { status } = failure;
  if (status === 408 || status === 429 || status >= 500) return 'away';
  return status === 401 || status === 403 || status === 407 ? 'closed' : 'access';
}

/** Whether the same request may well succeed within seconds. */
export function isTemporary(failure: TransferFailure): boolean {
  if (failure === 'late') return false;
  if (failure === 'cut') return true;
  if ('code' in failure) return temporaryCodes.has(failure.code);
  return transferFault(failure) === 'away' && failure.status !== 501 && failure.status !== 505;
}

const temporaryCodes = new Set(['EAI_AGAIN', 'ETIMEDOUT', 'ECONNRESET', 'EPIPE', 'ECONNABORTED']);
