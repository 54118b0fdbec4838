import type { JobSpec } from '@halogrid/proto';
import type { JobRecord } from './ledger.ts';

/** The status of a job in the registry, as JSON. */
export function statusOf({ spec: _, ...facts }: JobRecord): string {
  return JSON.stringify(facts);
}

/** The record of a job whose status `statusOf` gave. */
export const readRecord = (status: string, spec: JobSpec): JobRecord => ({ ...JSON.parse(status), spec });
