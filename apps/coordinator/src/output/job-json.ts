import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Pipeline } from '@halogrid/kernels';
import type { JobSpec } from '@halogrid/proto';
import { resultsVersion, softwareVersion } from '@halogrid/service';
import { redactUri } from '@halogrid/sources';
import { jobPipeline } from '../job/accepted-job.ts';
import type { JobRecord, JobResults, SourceOutcome } from '../ledger/ledger.ts';
import { capturedBy } from './captured-by.ts';
import { type NamedSource, namedSources } from './output-names.ts';
import type { Changes } from './previous/changes.ts';

/** What job.json of a job that has not ended says, and what another job reads of any. */
export interface JobClaim {
  id: string;
  state: 'running' | 'complete' | 'failed' | 'cancelled';
  /** What may be secret in the URIs of its sources is left out. */
  specification: JobSpec;
  /** The hash of all of it, where something is left out. */
  specificationSha256?: string;
  /** The process that runs it, while it does. */
  coordinator?: { host: string; pid: number };
  /** Only a complete job has one. */
  digest?: string;
  /** Only a failed job has one. */
  error?: string;
}

/** The specification as a file may hold it; where that leaves something out, with what tells that another is the same. */
function describeSpec(spec: JobSpec): Pick<JobClaim, 'specification' | 'specificationSha256'> {
  const sources = spec.sources.map(redactUri);
  const isWhole = sources.every((uri, index) => uri === spec.sources[index]);
  return { specification: { ...spec, sources }, ...(!isWhole && { specificationSha256: hashSpec(spec) }) };
}

/** Whether a folder's job is that of a specification, whatever both keep of earlier results. */
export function isSameJob({ specification, specificationSha256 }: JobClaim, spec: JobSpec): boolean {
  if (specificationSha256) return specificationSha256 === hashSpec(spec);
  return isDeepStrictEqual(lasting(specification), JSON.parse(JSON.stringify(lasting(spec))));
}

/** Whether a folder's job is that of a specification but for the maps that this one adds: all else of its output is the same. */
export function addsMaps(claim: JobClaim, spec: JobSpec): boolean {
  return (
    claim.specification.mapFormat === 'none' &&
    spec.mapFormat !== 'none' &&
    isSameJob(claim, { ...spec, mapFormat: 'none' })
  );
}

const hashSpec = (spec: JobSpec): string =>
  createHash('sha256')
    .update(canonicalJson(lasting(spec)))
    .digest('hex');

/** What is the same for every job that may follow another in its folder: what else it says decides no result. */
function lasting(spec: JobSpec): Omit<JobSpec, 'checksum' | 'fresh' | 'maxQuarantined' | 'waitForNode'> {
  const { checksum: _, fresh: __, maxQuarantined: ___, waitForNode: ____, ...rest } = spec;
  return rest;
}

/** The same text whatever the order of keys. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) =>
    item instanceof Object && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)))
      : item,
  );
}

/** The job.json of a job that has just begun. */
export function runningJobJson(
  job: { jobId: string; spec: JobSpec },
  coordinator: { host: string; pid: number },
): string {
  const claim: JobClaim & { version: string; resultsVersion: number } = {
    id: job.jobId,
    state: 'running',
    version: softwareVersion,
    resultsVersion,
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
): string {
  const { jobId, spec, submittedMs, counts, reasons: quarantine } = job;
  const times = { submitted: isoTime(submittedMs), finished: isoTime(finishedMs) };
  const versions = { version: softwareVersion, resultsVersion };
  const text = { id: jobId, ...end, ...versions, ...times, counts, quarantine, ...describeSpec(spec) };
  return `${JSON.stringify(text, null, 2)}\n`;
}

/** Of a job whose videos hardware may have decoded. */
const ofHardware =
  'Videos may have been decoded in hardware, which conceals damage: most of it is noticed, and decoded again by cores; what is not counts as hardware shows it';

/**
 * The job.json of a complete job, piece by piece: there may be millions of sources, a line each. `incremental` says what an
 * earlier job in the folder had to do with it, and `earlierResultsVersion` that it was of another version of the results.
 */
export function* completeJobJson(
  results: JobResults,
  pipeline: Pipeline,
  finishedMs: number,
  { incremental, earlierResultsVersion }: { incremental?: Changes; earlierResultsVersion?: number } = {},
): Generator<string> {
  const { job, digest, nodes } = results;
  const { sources, frames, shards, attempts, pixels, quarantined } = job.counts;
  const head = {
    id: job.jobId,
    state: 'complete',
    version: softwareVersion,
    resultsVersion,
    ...(results.parts
      ? { digest, pipelines: results.parts.map(partEntry) }
      : { convention: pipeline.convention, digest }),
    submitted: isoTime(job.submittedMs),
    finished: isoTime(finishedMs),
    counts: { sources, frames, shards, attempts, pixels, quarantined },
    quarantine: job.reasons,
    capturedBy: capturedBy(results, pipeline),
    ...(incremental && { incremental }),
    ...(earlierResultsVersion !== undefined && { earlierResultsVersion }),
    wallSeconds: (finishedMs - job.submittedMs) / 1000,
    seconds: rounded(results.stageSeconds),
    nodes,
    ...(job.spec.video?.hwaccel && { hardware: ofHardware }),
    ...describeSpec(job.spec),
  };
  yield `${JSON.stringify(head, null, 2).slice(0, -2)},\n  "sources": [`;
  let separator = '\n    ';
  for (const entry of sourceEntries(namedSources(results))) {
    // How many pixels count is another number for each pipeline.
    yield separator + JSON.stringify(results.parts ? { ...entry, counted: undefined } : entry);
    separator = ',\n    ';
  }
  yield results.sources.length ? '\n  ]\n}\n' : ']\n}\n';
}

/** A named pipeline, whose results are in the folder of that name. */
function partEntry({ name, results }: NonNullable<JobResults['parts']>[number]): object {
  return { name, convention: jobPipeline(results.job.spec).convention, digest: results.digest };
}

/** An entry a source, but one for all the frames of a video that follow one another. */
function* sourceEntries(sources: Iterable<NamedSource>): Generator<object> {
  let video: VideoEntry | undefined;
  /** As it is asked for; the entry has what may be shown of it. */
  let videoUri: string | undefined;
  for (const { source, name } of sources) {
    if (video && !(source.video && source.uri === videoUri)) {
      yield video;
      video = undefined;
    }
    if (!source.video) yield sourceEntry(source, name);
    else {
      video ??= { uri: redactUri(source.uri), name, frames: 0, width: 0, height: 0, pixels: 0, counted: 0 };
      videoUri = source.uri;
      addFrame(video, source);
    }
  }
  if (video) yield video;
}

/** Sums over the frames that are done; the size is that of the first, and `name` is that of its preview and map. */
interface VideoEntry {
  uri: string;
  name: string;
  frames: number;
  width: number;
  height: number;
  pixels: number;
  counted: number;
  quarantinedFrames?: number;
}

function addFrame(video: VideoEntry, frame: SourceOutcome): void {
  if (frame.state === 'quarantined') {
    video.quarantinedFrames = (video.quarantinedFrames ?? 0) + 1;
    return;
  }
  const { width, height } = frame.size;
  if (video.frames++ === 0) Object.assign(video, { width, height });
  video.pixels += width * height;
  video.counted += frame.counted;
}

/** `pixels` are those of the image, `counted` those that have a code; `name` is that of its preview and map. */
function sourceEntry(source: SourceOutcome, name: string): object {
  if (source.state === 'quarantined') return { uri: redactUri(source.uri), quarantined: true, error: source.error };
  const { width, height } = source.size;
  return { uri: redactUri(source.uri), name, width, height, pixels: width * height, counted: source.counted };
}

/** Seconds to the microsecond, stages in alphabetical order. */
function rounded(seconds: Record<string, number>): Record<string, number> {
  const stages = Object.entries(seconds).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(stages.map(([stage, value]) => [stage, Math.round(value * 1e6) / 1e6]));
}

const isoTime = (ms: number): string => new Date(ms).toISOString();
