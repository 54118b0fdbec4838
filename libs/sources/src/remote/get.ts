import { setTimeout as delay } from 'node:timers/promises';
import { InputError } from '../input-error.ts';
import { ask, type HttpAnswer } from './ask.ts';
import { ChangedFileError, changed } from './file-version.ts';
import { currentPatience } from './patience.ts';
import type { RemoteLimits } from './remote-limits.ts';
import type { RemoteTarget } from './remote-target.ts';
import { TransferError } from './transfer-error.ts';
import { isTemporary, type TransferFault } from './transfer-fault.ts';

/** Bytes that are read of an answer that is not a success; enough for the error of an S3 server. */
const maxExplanationBytes = 2 ** 16;

/** The longest wait that a server may ask for. */
const maxRetryAfterMs = 10_000;

/** As tryToGet, but rejects with InputError only. */
export async function get<T>(...args: Parameters<typeof tryToGet<T>>): Promise<T> {
  try {
    return await tryToGet(...args);
  } catch (error) {
    if (!(error instanceof TransferError)) throw error;
    throw new InputError('read', error.message, { fault: error instanceof ChangedFileError ? 'changed' : error.fault });
  }
}

/**
 * Asks for the target and has `use` read the answer, 200 or 206, again and again if the failure may pass: 5xx, 429 and
 * connections that end early. `use` then begins from the start. A caller with patience (see patience.ts) waits until
 * the host is back. Rejects with TransferError if repeating does not help, with InputError for an empty file, and as
 * the patience does.
 */
export async function tryToGet<T>(
  target: RemoteTarget,
  headers: Record<string, string>,
  limits: RemoteLimits,
  use: (answer: HttpAnswer) => Promise<T>,
): Promise<T> {
  const patience = currentPatience();
  for (;;) {
    try {
      const got = await getWithin(target, headers, limits, use);
      patience?.answered(target, true);
      return got;
    } catch (error) {
      if (!patience || !(error instanceof TransferError)) throw error;
      if (error.fault === 'access') patience.answered(target, false);
      else if (await patience.outlasts(target, error, (other) => look(other, limits))) continue;
      throw error;
    }
  }
}

/** As tryToGet, but with a limited number of attempts. */
const getWithin = <T>(...[target, headers, limits, use]: Parameters<typeof tryToGet<T>>): Promise<T> =>
  tryAgain(limits, () => getOnce(target, headers, limits, use));

/**
 * Sends a request, again if its failure may pass, with pauses that double. Rejects with TransferError after
 * `limits.attempts`.
 */
export async function tryAgain<T>(limits: RemoteLimits, send: (attempt: number) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await send(attempt);
    } catch (error) {
      if (!(error instanceof TransferError && error.isTemporary)) throw error;
      if (attempt >= limits.attempts) throw new TransferError(`${error.message} (${attempt} attempts)`, error.failure);
      const askedMs = error instanceof BusyError ? error.retryAfterMs : 0;
      await delay(Math.max(limits.backoffMs * 2 ** (attempt - 1), Math.min(askedMs, maxRetryAfterMs)));
    }
  }
}

/** The fault of one request for a byte of the target; undefined if it succeeds. */
async function look(target: RemoteTarget, limits: RemoteLimits): Promise<TransferFault | undefined> {
  try {
    await getOnce(target, { range: 'bytes=0-0' }, limits, async () => {});
    return undefined;
  } catch (error) {
    return error instanceof TransferError ? error.fault : undefined;
  }
}

async function getOnce<T>(
  target: RemoteTarget,
  headers: Record<string, string>,
  limits: RemoteLimits,
  use: (answer: HttpAnswer) => Promise<T>,
): Promise<T> {
  const request = await target.request(headers);
  let { url } = request;
  for (let redirects = 0; ; redirects++) {
    const answer = await ask({ url, headers: request.headers }, limits, target.lookup);
    try {
      const { status } = answer;
      if (status === 200 || status === 206) {
        checkEncoding(answer);
        return await use(answer);
      }
      if (status === 416 && request.headers.range?.startsWith('bytes=0-')) {
        throw new InputError('decode', 'The file is empty (0 bytes)');
      }
      if (status === 412 || status === 416) throw changed('the server has another version of it now');
      if (!target.followsRedirects || !isRedirect(answer)) throw await refusal(target, answer);
      if (redirects === limits.redirects) {
        throw new TransferError(`The server redirects more than ${limits.redirects} times`);
      }
      url = redirected(url, answer.headers.location!);
    } finally {
      answer.drop();
    }
  }
}

/** A server that will be ready later. */
class BusyError extends TransferError {
  readonly retryAfterMs: number;

  constructor(message: string, status: number, retryAfterMs: number) {
    super(message, { status });
    this.retryAfterMs = retryAfterMs;
  }
}

const isRedirect = ({ status, headers }: HttpAnswer): boolean =>
  [301, 302, 303, 307, 308].includes(status) && headers.location !== undefined;

/** Only the host that was named is trusted with a source; from http to https it may move. */
function redirected(from: URL, location: string): URL {
  if (!URL.canParse(location, from.href)) throw new TransferError('The server redirects to what is not a URI');
  const to = new URL(location, from);
  const isSecured = from.protocol === 'http:' && to.protocol === 'https:' && from.port === '' && to.port === '';
  if (to.origin === from.origin || (isSecured && to.hostname === from.hostname)) return to;
  throw new TransferError(
    `The server redirects to '${to.origin}', and only redirections within '${from.origin}' are followed`,
  );
}

/** The error for an answer that is not a success. */
export async function refusal(target: Pick<RemoteTarget, 'explain'>, answer: HttpAnswer): Promise<TransferError> {
  const { status, headers } = answer;
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of answer.body) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes >= maxExplanationBytes) break;
    }
  } catch {
    // The status says enough.
  }
  const sentence = await target.explain(
    status,
    headers,
    Buffer.concat(chunks).toString('utf8', 0, maxExplanationBytes),
  );
  if (!isTemporary({ status })) return new TransferError(sentence, { status });
  return new BusyError(sentence, status, 1000 * (Number(headers['retry-after']) || 0));
}

function checkEncoding({ headers }: HttpAnswer): void {
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding === 'identity' || encoding === 'aws-chunked') return;
  throw new TransferError(`The server sends the file compressed as '${encoding}', which was not asked for`);
}
