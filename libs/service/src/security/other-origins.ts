import type { IncomingMessage, ServerResponse } from 'node:http';
import { UsageError } from '../usage-error.ts';

/** Checks origins such as `https://tools.example.org`; each stands only for itself. Throws UsageError. */
export function parseOrigins(option: string, texts: readonly string[]): readonly string[] {
  for (const text of texts) {
    if (text === '*') {
      throw new UsageError(`Expected the origin of a site for ${option} but received '*': name each site that may`);
    }
    const isOrigin = /^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text;
    if (!isOrigin)
      throw new UsageError(`Expected an origin such as https://example.org for ${option} but received '${text}'`);
  }
  return texts;
}

/** Seconds for which a browser remembers what it may ask. */
const rememberSeconds = 600;

/**
 * Tells a browser whether a page of another site may read the answer (CORS): pages of `allowed` origins may, without
 * cookies. Returns true if the request was only this question: it is then answered.
 */
export function answerOrigin(
  { method, headers }: IncomingMessage,
  response: ServerResponse,
  allowed: readonly string[],
): boolean {
  if (allowed.length === 0) return false;
  response.setHeader('vary', 'origin');
  const { origin } = headers;
  if (origin === undefined || !allowed.includes(origin)) return false;
  response.setHeader('access-control-allow-origin', origin);
  response.setHeader('access-control-expose-headers', 'etag, content-range, halogrid-size, www-authenticate');
  if (method !== 'OPTIONS' || headers['access-control-request-method'] === undefined) return false;
  response.writeHead(204, {
    'access-control-allow-methods': 'GET, HEAD, POST',
    'access-control-allow-headers':
      'authorization, content-type, if-match, if-none-match, if-range, last-event-id, range',
    'access-control-max-age': String(rememberSeconds),
  });
  response.end();
  return true;
}
