import type { InputFault } from '../input-error.ts';

/**
 * How a request failed: by the status of its answer, by the code of what went wrong with the connection, or because the answer had not come
 * in time or ended early.
 */
export type TransferFailure = { status: number } | { code: string } | 'late' | 'cut';

/** What a failed request to a host or bucket tells. `access`: something of what was asked for alone. */
export type TransferFault = Extract<InputFault, 'access' | 'away' | 'closed'>;

/**
 * Whether a failed request tells of the input, or of its host or bucket: that it is `away`, where there is no connection, no name, no time, or
 * an answer that says so (408, 429, 5xx); that it is `closed` (401, 403, 407); one of these once another request says the same. Other
 * answers are of what was asked for (404, 410 …).
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
