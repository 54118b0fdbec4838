import { basename } from 'node:path';
import { findStored, removeStored } from '@halogrid/coordinator/stored-outputs';
import type { JobStatus } from '@halogrid/proto';
import { placeAt } from '@halogrid/results/place';
import type { StoredOutput } from '@halogrid/results/stored-output';
import { indexedJobs } from '@halogrid/search/indexed-jobs';
import { isBucketUri } from '@halogrid/sources/prefix-uri';
import { abortBegun, listBegun } from './begun-uploads.ts';
import { type GarbageChoice, judgeOutput, type Verdict } from './judge-output.ts';
import { knowJob } from './know-job.ts';
import { type BegunUpload, judgeUploads, type StrayUploads } from './stray-uploads.ts';

/** An output that was found, and what became of it. */
export interface JudgedOutput extends Verdict {
  output: StoredOutput;
  files: number;
  bytes: number;
  /** Names of entries of somebody else, which stay in a folder whose job was removed. */
  stays: string[];
  /** Folders of indexes that have frames of a removed job. */
  indexes: string[];
}

export interface Garbage {
  judged: JudgedOutput[];
  /** Uploads to buckets that no job will complete. */
  strays: StrayUploads[];
  /** Sentences about outputs that could not be read or removed. */
  failures: string[];
}

export interface CollectChoice extends GarbageChoice {
  dryRun?: boolean | undefined;
  /** The jobs of the coordinator that was asked. */
  jobs?: ReadonlyMap<string, JobStatus>;
}

/** Looks at all outputs in these folders and buckets, and below them, and removes those that the choice names. */
export async function collectGarbage(roots: readonly string[], choice: CollectChoice): Promise<Garbage> {
  const garbage: Garbage = { judged: [], strays: [], failures: [] };
  const indexes = new Map<string, ReadonlySet<string>>();
  const seen = new Set<string>();
  // Before any output is looked at: an upload that begins later is of a job that runs.
  const begun = new Map<string, BegunUpload[]>();
  for (const { at } of roots.map(placeAt)) begun.set(at, isBucketUri(at) ? await begunBelow(at, garbage) : []);
  for (const [root, uploads] of begun) {
    for await (const found of findStored(root)) {
      if (found.kind === 'unreadable') garbage.failures.push(`'${found.path}' cannot be read: ${found.why}`);
      else if (found.kind === 'manifest') {
        const jobs = await indexedJobs(found.path);
        if (jobs) indexes.set(found.path, jobs);
      } else if (!seen.has(found.output.path)) {
        seen.add(found.output.path);
        await judge(found.output, choice, garbage);
      }
    }
    const outputs = garbage.judged.map(({ output, fate }) =>
      fate === 'remove' ? { ...output, state: 'removed' as const } : output,
    );
    for (const stray of judgeUploads(uploads, outputs, choice)) await settle(root, stray, choice, garbage);
  }
  for (const { fate, output, indexes: of } of garbage.judged) {
    if (fate === 'remove') for (const [path, jobs] of indexes) if (jobs.has(output.jobId)) of.push(path);
  }
  return garbage;
}

async function judge(output: StoredOutput, choice: CollectChoice, { judged, failures }: Garbage): Promise<void> {
  try {
    const verdict = judgeOutput(output, await knowJob(output, choice.jobs), choice);
    const isRemoved = verdict.fate === 'remove' && !choice.dryRun;
    const done = await removeStored(output, !isRemoved);
    judged.push({ ...verdict, output, ...done, indexes: [] });
  } catch (error) {
    failures.push(`Job ${output.jobId} in '${output.path}' was not removed: ${(error as Error).message}`);
  }
}

async function begunBelow(root: string, { failures }: Garbage): Promise<BegunUpload[]> {
  try {
    return await listBegun(root);
  } catch (error) {
    failures.push(`Unfinished uploads below '${root}' cannot be listed: ${(error as Error).message}`);
    return [];
  }
}

async function settle(root: string, stray: StrayUploads, { dryRun }: CollectChoice, garbage: Garbage): Promise<void> {
  try {
    if (stray.fate === 'remove' && !dryRun) await abortBegun(root, stray.uploads);
    garbage.strays.push(stray);
  } catch (error) {
    garbage.failures.push(`Unfinished uploads of '${stray.path}' were not removed: ${(error as Error).message}`);
  }
}

/** How many bytes the jobs of each owner have that stay, the most first. */
export function sizesByOwner(judged: readonly JudgedOutput[]): { owner: string; jobs: number; bytes: number }[] {
  const owners = Map.groupBy(judged, ({ output }) => output.owner ?? '');
  return [...owners]
    .map(([owner, of]) => ({ owner, jobs: of.length, bytes: of.reduce((sum, { bytes }) => sum + bytes, 0) }))
    .sort((a, b) => b.bytes - a.bytes);
}

/** `The index 'a' (folder '/srv/a') still has frames of job X.` */
export const indexSentence = (path: string, jobId: string): string =>
  `The index '${basename(path)}' (${path}) has frames of job ${jobId}: searches still find them.`;
