import { isTemporary, type TransferFailure, type TransferFault, transferFault } from './transfer-fault.ts';

/** A request that failed, in one sentence. */
export class TransferError extends Error {
  /** The same request may succeed a little later. */
  readonly isTemporary: boolean;
  /** The status of the answer, if there was one. */
  readonly status: number | undefined;
  readonly fault: TransferFault;

  /** How the request failed; undefined if there is an answer, but an unusable one. */
  readonly failure: TransferFailure | undefined;

  constructor(message: string, failure?: TransferFailure) {
    super(message);
    this.name = 'TransferError';
    this.failure = failure;
    this.isTemporary = failure !== undefined && isTemporary(failure);
    this.status = typeof failure === 'object' && 'status' in failure ? failure.status : undefined;
    this.fault = failure === undefined ? 'access' : transferFault(failure);
  }
}

/** What network failures mean; the message begins with the host. */
const reasons: Record<string, string> = {
  ENOTFOUND: 'is not known: there is no address for its name',
  EAI_AGAIN: 'is not known for the time being: its name could not be looked up',
  ECONNREFUSED: 'refuses connections',
  EHOSTUNREACH: 'cannot be reached',
  EHOSTDOWN: 'cannot be reached',
  ENETUNREACH: 'cannot be reached: there is no way to its network',
  ENETDOWN: 'cannot be reached: the network is down',
  EADDRNOTAVAIL: 'cannot be reached from this machine',
  EACCES: 'may not be reached from this machine',
  EPERM: 'may not be reached from this machine',
  ETIMEDOUT: 'cannot be reached: connecting took too long',
  ECONNRESET: 'closed the connection before its answer was complete',
  EPIPE: 'closed the connection before its answer was complete',
  ECONNABORTED: 'closed the connection before its answer was complete',
};

/**
 * What went wrong with a connection to `host`; failures of this process, such as too many open files, stay as they are.
 */
export function asTransferError(error: unknown, host: string): unknown {
  if (error instanceof TransferError || !(error instanceof Error)) return error;
  const { code = '', message } = error as NodeJS.ErrnoException;
  const known = reasons[code];
  if (known) return new TransferError(`The host '${host}' ${known}`, { code });
  if (code.startsWith('HPE_')) return new TransferError(`The host '${host}' does not speak HTTP (${code})`, { code });
  if (/^(ERR_TLS_|ERR_SSL_|CERT_|EPROTO|SELF_SIGNED|DEPTH_ZERO|UNABLE_TO_|HOSTNAME_MISMATCH|INVALID_CA)/.test(code)) {
    const because = code === 'EPROTO' || code.startsWith('ERR_SSL_') ? 'it speaks no TLS that is known here' : message;
    return new TransferError(`There is no secure connection to the host '${host}': ${because} (${code})`, { code });
  }
  return error;
}
