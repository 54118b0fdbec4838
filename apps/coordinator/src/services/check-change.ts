import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import type { Access } from '@halogrid/service';
import { Refusal } from '../job/refusal.ts';

/**
 * Throws Refusal, always 'forbidden', unless a request that changes something comes from a page of this coordinator or from a program,
 * and from who may. `machine` is the name of this one.
 *
 * - A page of another site cannot send JSON here without asking first, which nobody answers; and browsers say where a request is from.
 * - A token is sent by what this page runs alone, so no other site has one. Where nobody is asked for a token, a name that another
 *   site made lead here (DNS rebinding) is refused: the page then would be of that site.
 */
export function checkChange(headers: IncomingHttpHeaders, access: Access, machine: string): void {
  const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/json') refuse(`Expected the content type application/json but received '${type ?? ''}'`);
  const { host = '', origin } = headers;
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin') refuse('A page of another site may change nothing here');
  if (origin !== undefined && hostOf(origin) !== host) refuse('A page of another site may change nothing here');
  const denial = access.check(headers.authorization, 'submit');
  if (denial) refuse(denial.sentence);
  const isOpen = access.check(undefined, 'submit') === undefined;
  if (isOpen && !isOwnName(host, machine)) {
    refuse(
      `Without tokens, only pages at an address of this machine, at 'localhost' or at '${machine}' may change something; this is at '${host}'`,
    );
  }
}

function isOwnName(host: string, machine: string): boolean {
  const name = host.replace(/:\d+$/, '').toLowerCase();
  return name === 'localhost' || name === machine.toLowerCase() || isIP(name.replace(/^\[|\]$/g, '')) !== 0;
}

/** Undefined for what is no origin, as `null` is none. */
function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}

function refuse(sentence: string): never {
  throw new Refusal('forbidden', sentence);
}
