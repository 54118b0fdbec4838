import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { whyNothingMerged } from '@halogrid/console/words/sentences.js';
import { type TimeSpent, whereTimeWent } from '@halogrid/console/words/where-time-went.js';
import type { Counts, JobStatus, MendedInputs, QuarantineReason } from '@halogrid/proto';
import { specPipelines } from '../options/spec-pipelines.ts';
import { stateWord } from '../progress/describe-progress.ts';

/** What is left to say of a job that ended; `--json` prints it as it is. */
export interface JobSummary {
  id: string;
  state: string;
  /** Why the job failed. */
  error?: string;
  digest?: string;
  convention?: string;
  /** What each pipeline gave, where they have names. */
  pipelines?: { name: string; convention: string; digest: string }[];
  counts: { sources: number; frames: number; shards: number; attempts: number; pixels: number; quarantined: number };
  /** Why inputs are quarantined, where some are: the most frequent reason first. */
  quarantine?: QuarantineReason[];
  /** Inputs from which bytes that hold no pixel were removed, if there are any. */
  mended?: MendedInputs[];
  /** What was left out of its sources, and the like, a sentence each. */
  notes?: string[];
  /** Why a complete job has no result to speak of. */
  nothingMerged?: string;
  /** How the sources compare with those of the last job in the folder, where there was one. */
  incremental?: {
    /** Their results were there. */
    kept: number;
    new: number;
    changed: number;
    /** As they were, and computed by added pipelines only. */
    extended: number;
    /** As they were, and computed again by all pipelines. */
    again: number;
    removed: number;
    /** The first hundred of each. */
    changedSources: string[];
    removedSources: string[];
  };
  /** Version of the results in it. */
  resultsVersion?: number;
  /** Version of the output that was in the folder, where it is another one: nothing of it is kept. */
  earlierResultsVersion?: number;
  wallSeconds: number;
  /** Where it went, and what bound it; absent where that is not known. */
  time?: TimeSpent;
  /** Seconds by stage, summed over nodes; present where job.json can be read here. */
  seconds?: Record<string, number>;
  nodes?: { name: string; device: string; shards: number }[];
  /** Path of the output folder. */
  out: string;
  /** What there is to look at in it. */
  pictures: string[];
}

/** The summary of an ended job, with what its job.json adds, where that file can be read on this machine. */
export async function summarise(job: JobStatus): Promise<JobSummary> {
  const out = fileURLToPath(job.spec!.out);
  const { sources, frames, shards, attempts, pixels, quarantined } = job.counts ?? noCounts;
  const nothingMerged = whyNothingMerged(job);
  const written = await readJobJson(out, job.jobId);
  const time = whereTimeWent(job);
  return {
    id: job.jobId,
    state: stateWord(job.state),
    ...(job.error && { error: job.error }),
    ...(job.digest && { digest: job.digest }),
    ...(written?.convention && { convention: written.convention }),
    ...(written?.pipelines && { pipelines: written.pipelines }),
    counts: { sources, frames, shards, attempts, pixels, quarantined },
    ...(job.reasons.length > 0 && { quarantine: job.reasons }),
    ...(job.mended.length > 0 && { mended: job.mended }),
    ...(job.notes.length > 0 && { notes: job.notes }),
    ...(nothingMerged && { nothingMerged }),
    ...(written?.incremental && { incremental: written.incremental }),
    ...(written?.resultsVersion && { resultsVersion: written.resultsVersion }),
    ...(written?.earlierResultsVersion && { earlierResultsVersion: written.earlierResultsVersion }),
    wallSeconds: (job.finishedMs - job.submittedMs) / 1000,
    ...(time && { time }),
    ...(written?.seconds && { seconds: written.seconds }),
    ...(written?.nodes && { nodes: written.nodes }),
    out,
    pictures: picturesOf(job),
  };
}

/** Nothing is drawn of no result, and of a kernel that has no histogram there is no chart. */
function picturesOf({ spec, counts }: JobStatus): string[] {
  if (!counts?.frames) return [];
  return specPipelines(spec!).flatMap(({ name, pipeline }) => {
    const pictures = pipeline.bins > 0 ? ['histogram.svg', 'preview'] : ['preview'];
    return name === '' ? pictures : pictures.map((picture) => `pipelines/${name}/${picture}`);
  });
}

const noCounts: Counts = { sources: 0, frames: 0, shards: 0, shardsDone: 0, attempts: 0, pixels: 0, quarantined: 0 };

/** job.json of that job; undefined where there is none on this machine. */
async function readJobJson(out: string, jobId: string): Promise<Partial<JobSummary> | undefined> {
  try {
    const written = JSON.parse(await readFile(`${out}/job.json`, 'utf8'));
    return written.id === jobId ? written : undefined;
  } catch {
    return undefined;
  }
}
