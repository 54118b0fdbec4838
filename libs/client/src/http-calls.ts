import { type ErrorCode, HalogridError } from './errors.ts';

export interface HttpOptions {
  /** The token that the coordinator requires; a function is called for each request. */
  token?: string | (() => string | undefined) | undefined;
  /** In place of the global fetch. */
  fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
}

/** Requests a path below /api/v1; rejects with HalogridError if the answer is an error. */
export type HttpCall = (path: string, init?: RequestInit) => Promise<Response>;

export function httpCalls(address: string, { token, fetch = globalThis.fetch }: HttpOptions): HttpCall {
  const root = new URL('api/v1/', address.endsWith('/') ? address : `${address}/`).href;
  return async (path, init = {}) => {
    const headers = new Headers(init.headers);
    const word = typeof token === 'function' ? token() : token;
    if (word) headers.set('authorization', `Bearer ${word}`);
    const response = await fetch(root + path, { ...init, headers }).catch((cause) => {
      throw new HalogridError('UNAVAILABLE', whyNone(address, cause), { cause });
    });
    if (response.ok) return response;
    throw await refusalOf(response, address);
  };
}

export const askJson = async <Answer>(call: HttpCall, path: string, init?: RequestInit): Promise<Answer> =>
  (await (await call(path, init)).json()) as Answer;

/** A request that posts `body` as JSON. Throws HalogridError for values that JSON cannot hold. */
export const posted = (body: object): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: jsonOf(body),
});

function jsonOf(body: object): string {
  const field = unsendable(body, '');
  if (field === undefined) return JSON.stringify(body ?? null);
  const why = 'Expected what JSON holds, such as a text or a finite number,';
  throw new HalogridError('INVALID_ARGUMENT', `${why} for ${field} but received something else`, { field });
}

/** The path of a part of `value` that JSON would leave out or write as null; undefined if there is none. */
function unsendable(value: unknown, at: string): string | undefined {
  if (typeof value !== 'object' || value === null) {
    const isLost =
      typeof value === 'number' ? !Number.isFinite(value) : /^(bigint|function|symbol)$/.test(typeof value);
    return isLost ? at : undefined;
  }
  for (const [key, one] of Object.entries(value)) {
    const inside = Array.isArray(value) ? `${at}[${key}]` : at === '' ? key : `${at}.${key}`;
    const found = unsendable(one, inside);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Why there is no answer. Node only says `fetch failed`; the reason is in the error's cause. */
function whyNone(address: string, error: Error): string {
  const cause = error.cause instanceof Error ? error.cause : undefined;
  if (cause?.name === 'HTTPParserError') {
    return (
      `What answers at ${address} speaks no HTTP, as a coordinator does at its --listen: give the address of its --http ` +
      '(port 9464 unless it was told otherwise)'
    );
  }
  return `No coordinator answers at ${address}: ${cause?.message || error.message}`;
}

/** Codes for HTTP statuses, because a proxy in front of a coordinator sends no code. */
const codes: Record<number, ErrorCode> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  409: 'FAILED_PRECONDITION',
  429: 'RESOURCE_EXHAUSTED',
  502: 'UNAVAILABLE',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
};

async function refusalOf(response: Response, address: string): Promise<HalogridError> {
  const text = await response.text().catch(() => '');
  const { error, code, field } = readAnswer(text);
  const sentence = error ?? (text.split('\n')[0] || `status ${response.status}`);
  const isTheirs = error !== undefined && response.status !== 500;
  return new HalogridError(
    code ?? codes[response.status] ?? 'UNKNOWN',
    isTheirs ? sentence : `The coordinator at ${address} failed: ${sentence}`,
    { field },
  );
}

function readAnswer(text: string): { error?: string; code?: ErrorCode; field?: string } {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}
