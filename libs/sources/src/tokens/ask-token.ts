import { TokenError } from './token-error.ts';

/** A token that lets its bearer read. */
export interface Token {
  text: string;
  /** How long it is valid. */
  seconds: number;
}

/** How a token is requested: a GET, or with a form a POST. */
export interface TokenRequest {
  url: string;
  headers?: Record<string, string>;
  form?: Record<string, string>;
  timeoutMs?: number;
}

/** The longest wait for an answer; services answer within a second. */
const usualTimeoutMs = 30_000;

/** Requests a token as services of OAuth 2 give it. Rejects with TokenError. */
export async function askToken({ url, headers, form, timeoutMs = usualTimeoutMs }: TokenRequest): Promise<Token> {
  if (!URL.canParse(url)) throw new TokenError(`'${url.slice(0, 100)}' is not a URL that gives tokens`);
  const { host } = new URL(url);
  const how = { ...(headers && { headers }), ...(form && { method: 'POST', body: new URLSearchParams(form) }) };
  const answer = await fetch(url, { ...how, redirect: 'error', signal: AbortSignal.timeout(timeoutMs) }).catch(
    (error: Error) => {
      const { code } = (error.cause ?? {}) as { code?: string };
      const isLate = error.name === 'TimeoutError';
      const why = isLate ? `took more than ${timeoutMs / 1000} s` : `cannot be reached${code ? ` (${code})` : ''}`;
      throw new TokenError(`The host '${host}' that gives tokens ${why}`, isLate ? 'late' : { code: code ?? '' });
    },
  );
  const body = (await answer.json().catch(() => undefined)) as Record<string, unknown> | undefined;
  const { status } = answer;
  if (!answer.ok) {
    // Sentences of services may quote what was sent; their codes do not.
    const error = /^[\w-]{1,64}$/.exec(String(body?.error))?.[0] ?? '';
    throw new TokenError(`The host '${host}' gives no token: ${status} ${error}`.trimEnd(), { status });
  }
  const { access_token: text, expires_in: seconds } = body ?? {};
  if (typeof text === 'string' && /^[\x21-\x7e]+$/.test(text)) return { text, seconds: Number(seconds) || 0 };
  throw new TokenError(`The host '${host}' answers without a token`);
}
