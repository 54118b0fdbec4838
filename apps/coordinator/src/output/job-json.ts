import { jobPipeline } from '@halogrid/jobs/accepted-job';
import type { Pipeline } from '@halogrid/kernels';
import type { JobRecord, JobResults } from '@halogrid/ledger';
import { listNames } from '@halogrid/results/source-list';
import type { CaptureCounts } from '@halogrid/results/source-tables';
import { resultsVersion, softwareVersion } from '@halogrid/service/version';
import { zonelessNotes } from './captured-by.ts';
import { describeSpec, type JobClaim } from './job-claim.ts';
import type { Changes } from './previous/changes.ts';

/** The job.json of a job that has just begun. */
export function runningJobJson(
  job: Pick<JobRecord, 'jobId' | 'spec'> & { owner?: string | undefined },
  coordinator: { host: string; pid: number },
): string {
  const claim: JobClaim & { version: string; resultsVersion: number; owner: string | undefined } = {
    id: job.jobId,
    state: 'running',
    version: softwareVersion,
    resultsVersion,
    owner: job.owner || undefined,
    ...describeSpec(job.spec),
    coordinator,
  };
  return `${JSON.stringify(claim, null, 2)}\n`;
}

/** The job.json of a job that ended without results. */
export function abandonedJobJson(
  job: JobRecord,
  end: { state: 'cancelled' } | { state: 'failed'; error: string },
  finishedMs: number,
  canGoOn = false,
): string {
  const { jobId, spec, owner, submittedMs, counts, reasons: quarantine, mended, notes } = job;
  const times = { submitted: isoTime(submittedMs), finished: isoTime(finishedMs) };
  const versions = { version: softwareVersion, resultsVersion };
  const ended = { state: end.state, error: 'error' in end ? end.error : undefined, canGoOn: canGoOn || undefined };
  const text = {
    id: jobId,
    ...ended,
    ...versions,
    owner,
    ...times,
    counts,
    quarantine,
    mended,
    notes,
    ...describeSpec(spec),
  };
  return `${JSON.stringify(text, null, 2)}\n`;
}

/** The job.json of a job that did its share of the plan with this digest. */
export function shareJobJson({ job, stageSeconds, nodes }: JobResults, plan: string, finishedMs: number): string {
  const { sources, frames, shards, attempts, pixels, quarantined } = job.counts;
  const text = {
    id: job.jobId,
    state: 'part',
    version: softwareVersion,
    resultsVersion,
    plan,
    submitted: isoTime(job.submittedMs),
    finished: isoTime(finishedMs),
    counts: { sources, frames, shards, attempts, pixels, quarantined },
    quarantine: job.reasons,
    mended: job.mended,
    notes: job.notes,
    wallSeconds: (finishedMs - job.submittedMs) / 1000,
    seconds: rounded(stageSeconds),
    nodes,
    ...describeSpec(job.spec),
  };
  return `${JSON.stringify(text, null, 2)}\n`;
}

/** The job.json of a folder with a plan, which has this digest. */
export function plannedJobJson(
  { jobId, spec, submittedMs, counts, reasons, notes }: JobRecord,
  plan: string,
  atMs: number,
): string {
  const text = {
    id: jobId,
    state: 'planned',
    version: softwareVersion,
    resultsVersion,
    plan,
    submitted: isoTime(submittedMs),
    finished: isoTime(atMs),
    counts: { sources: counts.sources, shards: counts.shards, quarantined: counts.quarantined },
    quarantine: reasons,
    notes,
    ...describeSpec(spec),
  };
  return `${JSON.stringify(text, null, 2)}\n`;
}

/** The sentence about a job whose videos hardware may have decoded. */
const ofHardware =
  'Videos may have been decoded in hardware, which conceals damage: most of it is noticed, and decoded again by cores; what is not counts as hardware shows it';

/** The sources in job.json: `listed`, or only the number of entries; and the file of their list. */
export interface SourcesListed {
  listed: readonly string[] | undefined;
  file: string;
  entries: number;
}

/**
 * The job.json of a complete job. `listed` are its entries, each as JSON on a line of its own. `incremental` counts
 * what was kept from an earlier job in the folder, and `earlierResultsVersion` is the version of its results if that
 * differs.
 */
export function completeJobJson(
  results: JobResults,
  pipeline: Pipeline,
  finishedMs: number,
  { digest, parts }: JobDigests,
  { listed, file, entries }: SourcesListed,
  { captured, incremental, earlierResultsVersion }: JobFindings = {},
): string {
  const { job, nodes } = results;
  const { sources: count, frames, shards, attempts, pixels, quarantined } = job.counts;
  const notes = [...new Set([...(job.notes ?? []), ...zonelessNotes(captured).map(({ text }) => text)])];
  const head = {
    id: job.jobId,
    state: 'complete',
    version: softwareVersion,
    resultsVersion,
    ...(results.parts
      ? { digest, pipelines: results.parts.map((part, i) => partEntry(part, parts[i]!)) }
      : { convention: pipeline.convention, digest }),
    owner: job.owner,
    submitted: isoTime(job.submittedMs),
    finished: isoTime(finishedMs),
    counts: { sources: count, frames, shards, attempts, pixels, quarantined },
    quarantine: job.reasons,
    mended: job.mended,
    notes: notes.length > 0 ? notes : undefined,
    capturedBy: captured,
    incremental,
    earlierResultsVersion,
    wallSeconds: (finishedMs - job.submittedMs) / 1000,
    seconds: rounded(results.stageSeconds),
    nodes,
    hardware: job.spec.video?.hwaccel ? ofHardware : undefined,
    ...describeSpec(job.spec),
    sourceList: file.endsWith(listNames.rows) ? file : undefined,
    sources: listed ? undefined : { file, entries },
  };
  if (!listed) return `${JSON.stringify(head, null, 2)}\n`;
  const lines = listed.map((entry) => `\n    ${entry}`).join(',');
  return `${JSON.stringify(head, null, 2).slice(0, -2)},\n  "sources": [${lines}${lines && '\n  '}]\n}\n`;
}

/** The digest of the job, and the digests that its pipelines would have as jobs by themselves. */
export interface JobDigests {
  digest: string;
  parts: readonly string[];
}

/** Other facts about the results in job.json. */
export interface JobFindings {
  captured?: CaptureCounts;
  incremental?: Changes;
  earlierResultsVersion?: number;
}

/** A named pipeline, whose results are in the folder of that name. */
function partEntry({ name, results }: NonNullable<JobResults['parts']>[number], digest: string): object {
  return { name, convention: jobPipeline(results.job.spec).convention, digest };
}

/** Seconds to the microsecond, stages in alphabetical order. */
function rounded(seconds: Record<string, number>): Record<string, number> {
  const stages = Object.entries(seconds).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(stages.map(([stage, value]) => [stage, Math.round(value * 1e6) / 1e6]));
}

const isoTime = (ms: number): string => new Date(ms).toISOString();
