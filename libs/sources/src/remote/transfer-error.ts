/** A request that failed, in one sentence. */
export class TransferError extends Error {
  /** The same request may succeed a little later. */
  readonly isTemporary: boolean;
  /** The status of the answer, where there was one. */
  readonly status: number | undefined;
  /** It may succeed from another machine, or much later. */
  readonly mayPass: boolean;

  constructor(message: string, isTemporary: boolean, status?: number, mayPass = isTemporary) {
    super(message);
    this.name = 'TransferError';
    this.isTemporary = isTemporary;
    this.status = status;
    this.mayPass = mayPass;
  }
}

/** What network failures mean; `host` is put in front. */
const reasons: Record<string, [reason: string, isTemporary: boolean]> = {
  ENOTFOUND: ['is not known: there is no address for its name', false],
  EAI_AGAIN: ['is not known for the time being: its name could not be looked up', true],
  ECONNREFUSED: ['refuses connections', false],
  EHOSTUNREACH: ['cannot be reached', false],
  ENETUNREACH: ['cannot be reached: there is no way to its network', false],
  EADDRNOTAVAIL: ['cannot be reached from this machine', false],
  EACCES: ['may not be reached from this machine', false],
  EPERM: ['may not be reached from this machine', false],
  ETIMEDOUT: ['cannot be reached: connecting took too long', true],
  ECONNRESET: ['closed the connection before its answer was complete', true],
  EPIPE: ['closed the connection before its answer was complete', true],
  ECONNABORTED: ['closed the connection before its answer was complete', true],
};

/** What went wrong with a connection to `host`; failures of this process, such as too many open files, stay as they are. */
export function asTransferError(error: unknown, host: string): unknown {
  if (error instanceof TransferError || !(error instanceof Error)) return error;
  const { code = '', message } = error as NodeJS.ErrnoException;
  const known = reasons[code];
  if (known) return new TransferError(`The host '${host}' ${known[0]}`, known[1], undefined, true);
  if (code.startsWith('HPE_')) return new TransferError(`The host '${host}' does not speak HTTP (${code})`, false);
  if (/^(ERR_TLS_|ERR_SSL_|CERT_|EPROTO|SELF_SIGNED|DEPTH_ZERO|UNABLE_TO_|HOSTNAME_MISMATCH|INVALID_CA)/.test(code)) {
    const because = code === 'EPROTO' || code.startsWith('ERR_SSL_') ? 'it speaks no TLS that is known here' : message;
    return new TransferError(`There is no secure connection to the host '${host}': ${because} (${code})`, false);
  }
  return error;
}
