import type { IncomingHttpHeaders } from 'node:http';
import { Refusal } from '@halogrid/jobs/refusal';
import { shortened } from '@halogrid/kernels';

/**
 * Throws Refusal unless a request that changes something comes from a page of this coordinator or from a program:
 * 'unsupported' for another content type than JSON, else 'forbidden'.
 *
 * - Before a page of another site can send JSON, its browser must ask, and only `allowedOrigins` are allowed to.
 *   Browsers also say which site a request comes from.
 * - Only our own pages send tokens, so no other site has one. Without tokens, the server refuses host names, which
 *   another site could have pointed here.
 */
export function checkChange(headers: IncomingHttpHeaders, allowedOrigins: readonly string[]): void {
  const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/json') {
    const remedy = 'send the header content-type: application/json';
    const why = `Expected the content type application/json but received '${shortened(type ?? '')}': ${remedy}`;
    throw new Refusal('unsupported', why);
  }
  const { host = '', origin } = headers;
  const site = headers['sec-fetch-site'];
  const isAllowed = origin !== undefined && allowedOrigins.includes(origin);
  if (!isAllowed && site !== undefined && site !== 'same-origin') refuse();
  if (!isAllowed && origin !== undefined && hostOf(origin) !== host) refuse();
}

const foreign = 'A page of another site may change nothing here, unless --allow-origin names that site';

/** Undefined if `origin` is not a URL; browsers also send `null`. */
function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}

function refuse(): never {
  throw new Refusal('forbidden', foreign);
}
