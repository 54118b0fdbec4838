import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type JobSpec, JobState, type JobStatus } from '@halogrid/proto';
import { type FinishedJob, narrowCounts, readFeatures, readFinishedJob } from '@halogrid/search';
import { aborted } from '@halogrid/service';
import { type LocalCluster, startLocalCluster } from '../cluster/local-cluster.ts';
import { coordinatorHere } from '../cluster/own-coordinator.ts';
import { followJob, type ProgressView } from '../progress/follow-job.ts';
import { type JobSource, sourcesOfJob } from './sources-of-job.ts';

/** The counts of all images may have this many bytes; an evaluation holds them twice. */
const maxCountsBytes = 2 ** 32;

/** A frame of a job, and the counts of all its cells. */
export interface ComputedFrame {
  uri: string;
  frame: number;
  bins: ReturnType<typeof narrowCounts>;
}

/** A pipeline of a job, with what it computed. */
export interface ComputedPart {
  finished: FinishedJob;
  frames: ComputedFrame[];
}

export interface ComputedJob {
  job: JobStatus;
  /** What each pipeline computed, in the order of the specification. */
  parts: ComputedPart[];
  /** The images that were computed. */
  images: JobSource[];
}

/**
 * Runs a job on this machine as `run` does and keeps only its histograms: its output is in a temporary folder. Rejects
 * with one sentence if the job fails, or the signal aborts.
 */
export async function framesOfJob(
  spec: JobSpec,
  device: string,
  view: ProgressView,
  signal: AbortSignal,
): Promise<ComputedJob> {
  const folder = await mkdtemp(join(tmpdir(), 'halogrid-job-'));
  let cluster: LocalCluster | undefined;
  try {
    cluster = await startLocalCluster({ startCoordinator: coordinatorHere, nodes: 1, device, note: view.note });
    const out = join(folder, 'out');
    const job = await runOn(cluster, { ...spec, out: pathToFileURL(out).href }, signal, view);
    if (job.state !== JobState.COMPLETE) throw new Error(`The job failed: ${job.error}`);
    if (!job.counts?.frames) throw new Error(`Nothing was computed: ${job.reasons[0]?.error ?? 'there is no image'}`);
    const folders = spec.pipelines?.named.map(({ name }) => join(out, 'pipelines', name)) ?? [out];
    const parts: ComputedPart[] = [];
    for (const one of folders) parts.push(await readPart(one));
    return { job, parts, images: await sourcesOfJob(out) };
  } finally {
    await cluster?.stop();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function readPart(out: string): Promise<ComputedPart> {
  const finished = await readFinishedJob(out);
  const frames: ComputedFrame[] = [];
  let bytes = 0;
  for await (const { uri, frame, bins } of readFeatures(finished)) {
    const counts = narrowCounts(bins);
    bytes += counts.byteLength;
    if (bytes > maxCountsBytes) {
      const gib = maxCountsBytes / 2 ** 30;
      throw new Error(
        `The histograms of the first ${frames.length + 1} images take more than ${gib} GiB: ask for fewer cells or images`,
      );
    }
    frames.push({ uri, frame, bins: counts });
  }
  return { finished, frames };
}

async function runOn(
  cluster: LocalCluster,
  spec: JobSpec,
  signal: AbortSignal,
  view: ProgressView,
): Promise<JobStatus> {
  const client = cluster.connect();
  try {
    const job = await client.submit({ spec, nameOutByJob: false });
    const ended = await Promise.race([followJob(job, view), aborted(signal)]);
    if (!ended) throw new Error('Stopped: nothing was found or written');
    return ended;
  } finally {
    client.close();
  }
}
