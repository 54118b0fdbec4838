import type { ListRequest } from '@halogrid/proto';
import { UsageError } from '@halogrid/service';
import { readSince } from '@halogrid/service/read-since';
import type { LedgerState } from '../ledger/ledger.ts';
import { wireStates } from './job-status.ts';

const states = Object.keys(wireStates);
const names = ['state', 'since', 'limit'];
const maxLimit = 1_000_000;

/**
 * Which jobs the query of a URL asks for: `state` (names with commas, or several times), `since` and `limit` as the options of
 * `halogrid jobs`, but for the limit, which is none unless given. Throws UsageError.
 */
export function jobsQuery(query: URLSearchParams, nowMs: number): ListRequest {
  for (const name of query.keys()) {
    if (!names.includes(name))
      throw new UsageError(`Expected one of ${names.join(', ')} in the query but received '${name}'`);
  }
  const since = query.get('since');
  return {
    states: query.getAll('state').flatMap((text) => text.split(',').map(stateOf)),
    sinceMs: since === null ? undefined : readSince(since, 'since', nowMs),
    limit: limitOf(query.get('limit') ?? '0'),
  };
}

function stateOf(name: string): ListRequest['states'][number] {
  if (states.includes(name)) return wireStates[name as LedgerState];
  throw new UsageError(`Expected one of ${states.join(', ')} for state but received '${name}'`);
}

function limitOf(text: string): number {
  const limit = /^\d{1,7}$/.test(text) ? Number(text) : Number.POSITIVE_INFINITY;
  if (limit <= maxLimit) return limit;
  throw new UsageError(`Expected a whole number from 0 to ${maxLimit} for limit but received '${text}'`);
}
