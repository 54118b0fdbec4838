import { fileURLToPath } from 'node:url';
import { describeShards, isListing, percentDone, secondsLeft } from '@halogrid/console/words/progress.js';
import { describeMended, describeReason, whyNothingMerged } from '@halogrid/console/words/sentences.js';
import { describeTimeSpent, whereTimeWent } from '@halogrid/console/words/where-time-went.js';
import { hasEnded, type JobSpec, JobState, type JobStatus, type Pipeline } from '@halogrid/proto';
import { table } from '@halogrid/service/text-table';
import { isBucketUri } from '@halogrid/sources/prefix-uri';
import { describeAgo } from '../progress/describe-ago.ts';
import { describeLeft, stateWord } from '../progress/describe-progress.ts';
import { describePixels, describeSeconds, plural } from '../progress/quantities.ts';

/** The text of a job for people, at `nowMs` (milliseconds since 1970). */
export function describeJob(status: JobStatus, nowMs: number): string {
  const job = jobFacts(status, nowMs);
  const { counts } = job;
  const soFar = job.listing ? ' found so far' : '';
  const nothingMerged = whyNothingMerged(status);
  const more = job.error ? `: ${job.error}` : nothingMerged ? `, but ${nothingMerged}` : '';
  return table([
    ['job', job.id],
    ['state', job.state + more],
    ...(job.waiting && !hasEnded(status) ? [['waits', job.waiting]] : []),
    ...(job.paused ? [['paused', describePause(job.paused)]] : []),
    ['progress', describeProgress(status, job)],
    ['submitted', job.submitted + (job.owner ? ` by ${job.owner}` : '')],
    ...(job.finished ? [['finished', job.finished]] : []),
    ['kernels', job.pipeline],
    [
      'sources',
      `${counts.sources}${soFar || ' found'}, ${counts.frames} in the results, ${counts.quarantined} quarantined`,
    ],
    ...job.quarantine.map((reason, i) => [i === 0 ? 'quarantined' : '', describeReason(reason)]),
    ...job.mended.map((inputs, i) => [i === 0 ? 'remarks' : '', describeMended(inputs)]),
    ['shards', `${counts.shardsDone} of ${counts.shards}${soFar}, ${counts.attempts} attempts`],
    ['pixels', describePixels(counts.pixels)],
    ...describeTimeSpent(whereTimeWent(status)),
    ...(job.nodes === null ? [] : [['nodes', describeNodes(status)]]),
    ...(job.digest ? [['digest', job.digest]] : []),
    ['results', job.out],
  ]);
}

/** Since when the job is paused, and by whom. */
const describePause = ({ since, by }: { since: string; by: string | null }): string =>
  `since ${since}${by ? ` by ${by}` : ''}; 'halogrid resume' goes on with it`;

/** How and when a job ended, as a sentence. */
export function describeEnd({ jobId, state, error, finishedMs }: JobStatus, nowMs: number): string {
  const when = `${new Date(finishedMs).toISOString()} (${describeAgo(finishedMs, nowMs)})`;
  return `Job ${jobId} ended before: ${stateWord(state)}, ${when}${error && `: ${error}`}`;
}

/**
 * How far a job is, how fast, and how long it still takes. For a job that has ended: how far it came, and in which
 * time.
 */
function describeProgress(status: JobStatus, { percent, seconds, pixelsPerSecond }: Facts): string {
  const speed = pixelsPerSecond === null ? [] : [`${describePixels(pixelsPerSecond)}/s`];
  if (status.state === JobState.COMPLETE) return [`${percent} % in ${describeSeconds(seconds)}`, ...speed].join(', ');
  if (hasEnded(status)) return `ended at ${percent} %, after ${describeSeconds(seconds)}`;
  const listed = isListing(status) ? [describeShards(status)] : [];
  const left = describeLeft(status) ?? (isListing(status) ? 'time left not known yet' : undefined);
  return [`${percent} %`, ...listed, ...speed, ...(left ? [left] : []), `${describeSeconds(seconds)} so far`].join(
    ', ',
  );
}

function describeNodes(status: JobStatus): string {
  const { nodes, nodesUsed } = status;
  if (hasEnded(status)) return nodesUsed ? `${plural(nodesUsed, 'node')} took part` : 'none took part';
  return `${nodes} attached`;
}

/** `conv lbp`, or for named pipelines `smooth: conv lbp, plain: lbp`. */
function describeKernels({ pipeline, pipelines }: JobSpec): string {
  const chain = (its: Pipeline | undefined) => (its?.operations ?? []).map(({ kernel }) => kernel).join(' ');
  return pipelines?.named.map((named) => `${named.name}: ${chain(named.pipeline)}`).join(', ') ?? chain(pipeline);
}

type Facts = ReturnType<typeof jobFacts>;

/** A job in any state as `--json` prints it at `nowMs`. */
export function jobFacts(job: JobStatus, nowMs: number) {
  const { sources, out } = job.spec!;
  const isOver = hasEnded(job);
  const seconds = Math.max(0, (isOver ? job.finishedMs : nowMs) - job.submittedMs) / 1000;
  // If results were kept, the time does not cover all pixels.
  const mean = seconds > 0 && !job.counts!.kept ? job.counts!.pixels / seconds : null;
  return {
    id: job.jobId,
    owner: job.owner || null,
    state: stateWord(job.state),
    error: job.error || null,
    digest: job.digest || null,
    planned: job.planned,
    /** Whether more shards may come: `percent` is of the known ones. */
    listing: isListing(job),
    percent: percentDone(job),
    seconds,
    /** The mean of the last ten seconds; for a job that has ended, of its whole time. */
    pixelsPerSecond: isOver ? mean : (job.pixelsPerSecond ?? null),
    secondsLeft: secondsLeft(job) ?? null,
    counts: job.counts!,
    quarantine: job.reasons,
    mended: job.mended,
    waiting: job.waiting || null,
    paused: job.paused ? { since: new Date(job.paused.sinceMs).toISOString(), by: job.paused.by || null } : null,
    /** Attached nodes that hold or held a shard; for a job that has ended, the nodes that took part. */
    nodes: isOver ? (job.nodesUsed ?? null) : job.nodes,
    time: whereTimeWent(job) ?? null,
    submitted: new Date(job.submittedMs).toISOString(),
    finished: job.finishedMs ? new Date(job.finishedMs).toISOString() : null,
    pipeline: describeKernels(job.spec!),
    sources,
    out: isBucketUri(out) ? out : fileURLToPath(out),
  };
}
