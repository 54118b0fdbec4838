import { relative } from 'node:path';
import { describeMended, describeReason } from '@halogrid/console/words/sentences.js';
import { describeTimeSpent } from '@halogrid/console/words/where-time-went.js';
import { JobState, type JobStatus } from '@halogrid/proto';
import { otherResultsSentence } from '@halogrid/service';
import { table } from '@halogrid/service/text-table';
import { isBucketUri } from '@halogrid/sources/prefix-uri';
import { exitCodes } from '../process/exit-code.ts';
import { describePixels, describeSeconds, plural } from '../progress/quantities.ts';
import { type JobSummary, summarise } from './job-summary.ts';

/** The summary of a job for people. Paths are shown relative to `folder`. */
export function describeSummary(summary: JobSummary, folder: string): string {
  const {
    state,
    counts,
    quarantine = [],
    mended = [],
    pipelines = [],
    part,
    nothingMerged,
    incremental,
    wallSeconds,
    nodes,
    digest,
    error,
  } = summary;
  const out = shortest(summary.out, folder);
  if (state !== 'complete') return `Job ${summary.id} ${state}${error ? `: ${error}` : ''}.\n`;
  // If results were kept, the time does not cover all pixels.
  const speed = wallSeconds > 0 && !incremental?.kept ? ` at ${describePixels(counts.pixels / wallSeconds)}/s` : '';
  const rows = [
    ['sources', `${counts.sources} found, ${counts.frames} in ${part ? 'this part' : 'the results'}`],
    ...(counts.quarantined ? [['quarantined', describeQuarantined(summary, out)]] : []),
    ...quarantine.map((reason) => ['', describeReason(reason)]),
    ...mended.map((inputs, i) => [i === 0 ? 'remarks' : '', describeMended(inputs)]),
    ...(incremental ? [['skipped', describeChanges(incremental)]] : []),
    ['pixels', `${describePixels(counts.pixels)}${speed}`],
    ...describeTimeSpent(summary.time),
    ['shards', `${counts.shards} in ${plural(counts.attempts, 'attempt')}`],
    ...(nodes ?? []).map((node, i) => [
      i === 0 ? 'nodes' : '',
      `${node.name}: ${node.device}, ${plural(node.shards, 'shard')}`,
    ]),
    ...(part ? [] : [['digest', digest ?? '']]),
    ...pipelines.map((its, i) => [i === 0 ? 'pipelines' : '', `${its.name}: ${its.digest}`]),
    part
      ? ['part', `${part.number} of ${part.of} in ${out}/: halogrid merge makes one output of all parts`]
      : ['results', `${out}/${summary.pictures.length ? ` (open ${describePictures(summary)})` : ''}`],
  ];
  const time = describeSeconds(wallSeconds);
  const headline = nothingMerged ? `complete, but ${nothingMerged} (after ${time})` : `complete after ${time}`;
  return `Job ${summary.id} is ${headline}.\n${table(rows, '  ')}`;
}

/** The file with the reasons is in the whole output only. */
const describeQuarantined = ({ counts: { quarantined }, part }: JobSummary, out: string): string =>
  part ? String(quarantined) : `${quarantined}: ${out}/errors.jsonl says why`;

/** The pictures to open. Named pipelines have many with the same names, so only their folder is named. */
function describePictures({ pictures, pipelines }: JobSummary): string {
  return pipelines ? 'pipelines' : pictures.join(' and ');
}

const saidOf = {
  new: 'new',
  changed: 'changed',
  extended: 'computed by added pipelines only',
  again: 'computed again',
  removed: 'removed',
};

function describeChanges(changes: NonNullable<JobSummary['incremental']>): string {
  const others = (['new', 'changed', 'extended', 'again', 'removed'] as const).filter((kind) => changes[kind] > 0);
  const said = others.map((kind) => `${changes[kind]} ${saidOf[kind]}`).join(', ');
  return `${changes.kept} unchanged since the last run; ${said || 'nothing is new'}`;
}

/**
 * Notes on the sources, a line each: what was left out, why no earlier results are kept, or the first sources by name
 * that changed or were removed since the last run.
 */
export function describeNotices(summary: JobSummary): string[] {
  return [...(summary.notes ?? []), ...describeEarlier(summary)];
}

function describeEarlier({ incremental, earlierResultsVersion, resultsVersion }: JobSummary): string[] {
  if (earlierResultsVersion !== undefined) return [`${otherResultsSentence(earlierResultsVersion, resultsVersion)}.`];
  if (!incremental) return [];
  return (['changed', 'removed'] as const).flatMap((kind) => {
    const named = incremental[`${kind}Sources`].slice(0, maxNotices);
    const rest = incremental[`${kind}Sources`].length - named.length;
    const lines = named.map((uri) => `${kind[0]!.toUpperCase()}${kind.slice(1)} since the last run: ${uri}`);
    return rest > 0 ? [...lines, `And ${rest} more ${kind}: job.json names the first hundred.`] : lines;
  });
}

/** Sources of each kind that are named. */
const maxNotices = 10;

/** The path relative to `folder` if it is inside, otherwise unchanged. */
function shortest(path: string, folder: string): string {
  if (isBucketUri(path)) return path;
  const inside = relative(folder, path);
  return inside && !inside.startsWith('..') ? inside : path;
}

interface ReportChoice {
  json?: boolean;
  quiet?: boolean;
}

/** Prints the summary of an ended job and resolves with the exit code. Rejects with one sentence if the job failed. */
export async function reportEnd(
  job: JobStatus,
  { json: asJson = false, quiet = false }: ReportChoice,
): Promise<number> {
  const summary = await summarise(job);
  if (!quiet) for (const line of describeNotices(summary)) process.stderr.write(`${line}\n`);
  if (asJson) process.stdout.write(`${JSON.stringify(summary, null, 2)}\n`);
  if (job.state === JobState.FAILED) throw new Error(`Job ${job.jobId} failed: ${job.error}`);
  if (job.state === JobState.CANCELLED) throw new Error(`Job ${job.jobId} was cancelled`);
  if (!asJson) process.stdout.write(describeSummary(summary, process.cwd()));
  return exitCodeOfJob(job);
}

/** The exit code of a command that followed a job to its end. */
export function exitCodeOfJob(job: Pick<JobStatus, 'state' | 'counts'>): number {
  if (job.state !== JobState.COMPLETE) return exitCodes.failed;
  return job.counts?.quarantined ? exitCodes.quarantined : exitCodes.complete;
}
