import type { Change, Entry } from './ledger-store.ts';

/** What changes come to, in whatever order it is done, but `jobs` first. No place is named twice. */
export interface NetChanges {
  /** Jobs that lose every entry. */
  jobs: string[];
  /** Places that are emptied. */
  removed: Omit<Entry, 'value'>[];
  /** With values of their own: the caller's may change. */
  put: Entry[];
}

/** Sums up changes, for a database that takes them in batches: of several in one place, the last one counts. */
export function netChanges(changes: readonly Change[]): NetChanges {
  const jobs = new Set<string>();
  const places = new Map<string, Map<string, Exclude<Change, { kind?: undefined }>>>();
  for (const change of changes) {
    if (change.kind === undefined) {
      jobs.add(change.jobId);
      places.delete(change.jobId);
      continue;
    }
    const ofJob = places.get(change.jobId) ?? new Map();
    places.set(change.jobId, ofJob.set(`${change.key} ${change.kind}`, change));
  }
  const net: NetChanges = { jobs: [...jobs], removed: [], put: [] };
  for (const { jobId, kind, key, value } of [...places.values()].flatMap((ofJob) => [...ofJob.values()])) {
    if (value) net.put.push({ jobId, kind, key, value: new Uint8Array(value) });
    else net.removed.push({ jobId, kind, key });
  }
  return net;
}
