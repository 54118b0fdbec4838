import type { Pipeline } from '@halogrid/kernels';
import type { JobSpec } from '@halogrid/proto';
import { softwareVersion } from '@halogrid/service';
import type { JobRecord, JobResults, SourceOutcome } from '../ledger/ledger.ts';

/** What job.json of a job that has not ended says, and what another job reads of any. */
export interface JobClaim {
  id: string;
  state: 'running' | 'complete' | 'failed' | 'cancelled';
  specification: JobSpec;
  /** The process that runs it, while it does. */
  coordinator?: { host: string; pid: number };
  /** Of a complete job. */
  digest?: string;
  /** Of a failed one. */
  error?: string;
}

/** The job.json of a job that has just begun. */
export function runningJobJson(
  job: { jobId: string; spec: JobSpec },
  coordinator: { host: string; pid: number },
): string {
  const claim: JobClaim & { version: string } = {
    id: job.jobId,
    state: 'running',
    version: softwareVersion,
    specification: job.spec,
    coordinator,
  };
  return `${JSON.stringify(claim, null, 2)}\n`;
}

/** The job.json of a job that ended without results. */
export function abandonedJobJson(
  job: JobRecord,
  end: { state: 'cancelled' } | { state: 'failed'; error: string },
  finishedMs: number,
): string {
  const { jobId, spec, submittedMs, counts } = job;
  const times = { submitted: isoTime(submittedMs), finished: isoTime(finishedMs) };
  const text = { id: jobId, ...end, version: softwareVersion, ...times, counts, specification: spec };
  return `${JSON.stringify(text, null, 2)}\n`;
}

/**
 * The job.json of a complete job, piece by piece: there may be hundreds of thousands of sources, a line each. `names` are
 * those of their files, without extensions.
 */
export function* completeJobJson(
  results: JobResults,
  pipeline: Pipeline,
  names: readonly string[],
  finishedMs: number,
): Generator<string> {
  const { job, digest, nodes } = results;
  const { sources, frames, shards, attempts, pixels, quarantined } = job.counts;
  const head = {
    id: job.jobId,
    state: 'complete',
    version: softwareVersion,
    convention: pipeline.convention,
    digest,
    submitted: isoTime(job.submittedMs),
    finished: isoTime(finishedMs),
    counts: { sources, frames, shards, attempts, pixels, quarantined },
    wallSeconds: (finishedMs - job.submittedMs) / 1000,
    seconds: rounded(results.stageSeconds),
    nodes,
    specification: job.spec,
  };
  yield `${JSON.stringify(head, null, 2).slice(0, -2)},\n  "sources": [`;
  let separator = '\n    ';
  for (const source of results.sources) {
    yield separator + JSON.stringify(sourceEntry(source, names[source.index]!));
    separator = ',\n    ';
  }
  yield results.sources.length ? '\n  ]\n}\n' : ']\n}\n';
}

/** `pixels` are those of the image, `counted` those that have a code; `name` is that of its preview and map. */
function sourceEntry(source: SourceOutcome, name: string): object {
  if (source.state === 'quarantined') return { uri: source.uri, quarantined: true, error: source.error };
  const { width, height } = source.size;
  return { uri: source.uri, name, width, height, pixels: width * height, counted: source.counted };
}

/** Seconds to the microsecond, stages in alphabetical order. */
function rounded(seconds: Record<string, number>): Record<string, number> {
  const stages = Object.entries(seconds).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(stages.map(([stage, value]) => [stage, Math.round(value * 1e6) / 1e6]));
}

const isoTime = (ms: number): string => new Date(ms).toISOString();
