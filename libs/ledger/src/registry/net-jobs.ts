import { packMarks, specSum, statusSum } from './job-row.ts';
import type { JobChange } from './registry.ts';

/** The changes of a job that are to be written. */
export interface NetRow {
  jobId: string;
  /** Absent if the job must exist already. */
  spec?: string;
  specSum?: number;
  status: string;
  marks: string;
  statusSum: number;
  hasEnded: boolean;
}

/** The net changes of a transaction. Each job is in one of the lists, once. */
export interface NetJobs {
  removed: string[];
  written: NetRow[];
}

/**
 * The net changes. If a job has several, the last one counts. In order of id, so that no two transactions wait for each
 * other.
 */
export function netJobs(changes: readonly JobChange[]): NetJobs {
  const specs = new Map<string, string>();
  const last = new Map<string, JobChange>();
  for (const change of changes) {
    if (change.kind === 'begin') specs.set(change.jobId, change.spec);
    last.set(change.jobId, change);
  }
  const net: NetJobs = { removed: [], written: [] };
  for (const jobId of [...last.keys()].sort()) {
    const change = last.get(jobId)!;
    if (change.kind === 'remove') net.removed.push(jobId);
    else net.written.push(rowOf(change, specs.get(jobId)));
  }
  return net;
}

function rowOf(change: Exclude<JobChange, { kind: 'remove' }>, spec: string | undefined): NetRow {
  const { jobId, status } = change;
  const hasEnded = change.kind === 'end';
  const marks = packMarks(hasEnded ? [] : change.marks);
  return {
    jobId,
    ...(spec !== undefined && { spec, specSum: specSum(jobId, spec) }),
    status,
    marks,
    statusSum: statusSum(jobId, status, marks, hasEnded),
    hasEnded,
  };
}
