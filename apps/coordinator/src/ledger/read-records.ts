import type { JobSpec } from '@halogrid/proto';
import { decodeJob, decodeSpec } from './job-record.ts';
import type { JobRecord } from './ledger.ts';
import { unseal } from './record/sealed.ts';
import type { LedgerStore } from './store/ledger-store.ts';

/** Where more jobs than these are asked for, all of the store are looked through at once. */
const fewJobs = 20;

/** A job of the store, whoever leads it, as it was after its last group. */
export interface StoredRecord {
  record: JobRecord;
  hasEnded: boolean;
}

/**
 * What the store says of these jobs; nothing of those that it does not have, or whose entries come and go just now. `specs` has
 * specifications that are known, which never change. Rejects with DamagedLedgerError.
 */
export async function* readRecords(
  store: LedgerStore,
  jobIds: ReadonlySet<string>,
  specs: (jobId: string) => JobSpec | undefined,
): AsyncGenerator<StoredRecord> {
  const states = new Map<string, ReturnType<typeof decodeJob>>();
  for await (const entry of entriesOf(store, jobIds, 'job')) states.set(entry.jobId, decodeJob(unseal(entry)));
  const unknown = new Set([...states.keys()].filter((jobId) => !specs(jobId)));
  const read = new Map<string, JobSpec>();
  for await (const entry of entriesOf(store, unknown, 'spec')) read.set(entry.jobId, decodeSpec(unseal(entry)));
  for (const [jobId, { facts, open }] of states) {
    const spec = specs(jobId) ?? read.get(jobId);
    if (spec) yield { record: { ...facts, spec }, hasEnded: !open };
  }
}

async function* entriesOf(store: LedgerStore, jobIds: ReadonlySet<string>, kind: string) {
  if (jobIds.size > fewJobs) {
    for await (const entry of store.entries({ kind })) if (jobIds.has(entry.jobId)) yield entry;
    return;
  }
  for (const jobId of jobIds) yield* store.entries({ jobId, kind });
}
