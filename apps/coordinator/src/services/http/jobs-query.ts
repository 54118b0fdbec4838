import { Refusal, refuseValue } from '@halogrid/jobs/refusal';
import type { LedgerState } from '@halogrid/ledger';
import type { JobsQuery, ListRequest } from '@halogrid/proto';
import { UsageError } from '@halogrid/service';
import { readSince } from '@halogrid/service/read-since';
import { wireStates } from '../job-status.ts';

const states = Object.keys(wireStates);
const maxLimit = 1_000_000;

/**
 * Which jobs a query asks for: `state` (names with commas, or several times), `since`, `limit`, `owner` and `mine` as
 * the options of `halogrid jobs`, but without a limit by default. Throws Refusal.
 */
export function readJobsQuery({ state, since, limit, owner, mine }: JobsQuery, nowMs: number): ListRequest {
  if (limit > maxLimit) refuseValue('limit', limit, `a whole number from 0 to ${maxLimit}`);
  return {
    states: state.flatMap((text) => text.split(',').map(stateOf)),
    sinceMs: since === undefined ? undefined : sinceOf(since, nowMs),
    limit,
    owner,
    mine,
  };
}

function stateOf(name: string): ListRequest['states'][number] {
  if (states.includes(name)) return wireStates[name as LedgerState];
  return refuseValue('state', name, `one of ${states.join(', ')}`);
}

function sinceOf(text: string, nowMs: number): number {
  try {
    return readSince(text, 'since', nowMs);
  } catch (error) {
    throw error instanceof UsageError ? new Refusal('invalid', error.message, 'since') : error;
  }
}
