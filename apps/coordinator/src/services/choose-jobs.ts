import type { JobRecord } from '@halogrid/ledger';
import type { ListRequest } from '@halogrid/proto';
import { wireStates } from './job-status.ts';

/** The jobs that a request asks for, and how many more there would be without its limit. `records` are newest first. */
export function chooseJobs(
  records: readonly JobRecord[],
  { states, sinceMs = 0, limit = 0 }: ListRequest,
): { chosen: readonly JobRecord[]; leftOut: number } {
  const meant = records.filter(
    ({ state, submittedMs }) => submittedMs >= sinceMs && (states.length === 0 || states.includes(wireStates[state])),
  );
  const chosen = limit > 0 ? meant.slice(0, limit) : meant;
  return { chosen, leftOut: meant.length - chosen.length };
}
