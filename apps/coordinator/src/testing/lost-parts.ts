// For tests: damages parts of jobs before their end, and compares outputs.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type FoundAnswer, type JobSpec, JobState, type JobStatus, type Lease, splitAnswer } from '@halogrid/proto';
import { eventually } from '@halogrid/testing';
import type { ScriptedNode } from '../services/testing/scripted-node.ts';
import { answerOf, get, type Stage } from './coordinator-stage.ts';

/** The fields of job.json that differ between jobs with the same results. */
const ownFields = ['id', 'submitted', 'finished', 'wallSeconds', 'seconds', 'nodes', 'incremental'];

/**
 * All files of an output by their paths: a digest of each; of job.json, the fields that do not depend on when and where
 * the job ran.
 */
export async function readOutput(out: string): Promise<Record<string, unknown>> {
  const files = await readdir(out, { recursive: true, withFileTypes: true });
  const paths = files.filter((file) => !file.isDirectory()).map(({ parentPath, name }) => join(parentPath, name));
  const read: Record<string, unknown> = {};
  for (const path of paths.sort()) {
    const bytes = await readFile(path);
    const name = path.slice(out.length + 1);
    read[name] = name === 'job.json' ? lasting(bytes) : createHash('sha256').update(bytes).digest('hex');
  }
  return read;
}

function lasting(bytes: Buffer): object {
  const { counts, specification, ...rest } = JSON.parse(bytes.toString());
  for (const field of ownFields) delete rest[field];
  return {
    ...rest,
    counts: { ...counts, shards: undefined, attempts: undefined },
    specification: { ...specification, out: undefined },
  };
}

/** Sends an answer, in several messages. */
export function say(node: ScriptedNode, answer: FoundAnswer): void {
  for (const report of splitAnswer(answer, 100)) node.say(report);
}

/** Computes a lease, and sends its answer as changed by `change`. Resolves with the part that it wrote. */
export async function answer(
  node: ScriptedNode,
  lease: Lease,
  change = (found: FoundAnswer): FoundAnswer => found,
): Promise<string> {
  const found = await answerOf(lease);
  say(node, change(found));
  return found.found!.part!;
}

/** Waits until this many shards are done. */
export async function untilDone({ jobs }: Stage, jobId: string, shards: number): Promise<void> {
  await eventually(`${shards} shards`, async () => (await get(jobs, jobId)).counts!.shardsDone === shards);
}

/** Waits until this many sources are kept. */
export async function untilKept({ jobs }: Stage, jobId: string, sources: number): Promise<void> {
  await eventually(`${sources} kept sources`, async () => (await get(jobs, jobId)).counts!.kept === sources);
}

/** Waits for the end of the job, which must be complete. */
export async function complete({ jobs }: Stage, jobId: string): Promise<JobStatus> {
  const job = await ended({ jobs }, jobId);
  assert.equal(job.state, JobState.COMPLETE, job.error);
  return job;
}

/** Waits for the end of the job, in any state. */
export function ended({ jobs }: Pick<Stage, 'jobs'>, jobId: string): Promise<JobStatus> {
  return eventually('the end of the job', async () => {
    const job = await get(jobs, jobId);
    return (job.state === JobState.COMPLETE || job.state === JobState.FAILED) && job;
  });
}

export const partsIn = (spec: JobSpec): string => join(new URL(spec.out).pathname, '.halogrid', 'parts');
