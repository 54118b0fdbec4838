import { whyNothingMerged } from '@halogrid/console/words/sentences.js';
import { type TimeSpent, whereTimeWent } from '@halogrid/console/words/where-time-went.js';
import type { Counts, JobStatus, MendedInputs, QuarantineReason } from '@halogrid/proto';
import { type Place, placeOfUri } from '@halogrid/results/place';
import { wholeFile } from '@halogrid/results/whole-file';
import { specPipelines } from '../options/spec-pipelines.ts';
import { stateWord } from '../progress/describe-progress.ts';

/** The summary of a job that has ended; `--json` prints it unchanged. */
export interface JobSummary {
  id: string;
  state: string;
  /** Which part of an output it made; absent for a whole output. */
  part?: { number: number; of: number };
  /** Why the job failed. */
  error?: string;
  digest?: string;
  convention?: string;
  /** The results of each pipeline, if they have names. */
  pipelines?: { name: string; convention: string; digest: string }[];
  counts: { sources: number; frames: number; shards: number; attempts: number; pixels: number; quarantined: number };
  /** Why inputs are quarantined, if some are: the most frequent reason first. */
  quarantine?: QuarantineReason[];
  /** Inputs from which bytes that hold no pixel were removed, if there are any. */
  mended?: MendedInputs[];
  /** Notes, such as what was left out of its sources, a sentence each. */
  notes?: string[];
  /** Why the results of a complete job are empty. */
  nothingMerged?: string;
  /** How the sources compare with the sources of the last job in the folder, if there was one. */
  incremental?: {
    /** Sources whose results were kept. */
    kept: number;
    new: number;
    changed: number;
    /** Unchanged sources that only added pipelines computed. */
    extended: number;
    /** Unchanged sources that all pipelines computed again. */
    again: number;
    removed: number;
    /** The first hundred of each. */
    changedSources: string[];
    removedSources: string[];
  };
  /** Version of the results. */
  resultsVersion?: number;
  /** Version of the output that was in the folder, if it is different: none of it is kept. */
  earlierResultsVersion?: number;
  wallSeconds: number;
  /** Where the time went, and what limited the job; absent if not known. */
  time?: TimeSpent;
  /** Seconds by stage, summed over nodes; present if job.json can be read here. */
  seconds?: Record<string, number>;
  nodes?: { name: string; device: string; shards: number }[];
  /** Path of the output folder, or its s3: URI. */
  out: string;
  /** The pictures in the output folder. */
  pictures: string[];
}

/** The summary of an ended job, with what its job.json adds if that file can be read on this machine. */
export async function summarise(job: JobStatus): Promise<JobSummary> {
  const out = placeOfUri(job.spec!.out);
  const { sources, frames, shards, attempts, pixels, quarantined } = job.counts ?? noCounts;
  const written = await readJobJson(out, job.jobId);
  return {
    id: job.jobId,
    state: stateWord(job.state),
    part: partOf(job),
    error: job.error || undefined,
    digest: job.digest || undefined,
    convention: written?.convention,
    pipelines: written?.pipelines,
    counts: { sources, frames, shards, attempts, pixels, quarantined },
    quarantine: unlessEmpty(job.reasons),
    mended: unlessEmpty(job.mended),
    notes: unlessEmpty(job.notes),
    nothingMerged: job.spec!.share ? undefined : whyNothingMerged(job),
    incremental: written?.incremental,
    resultsVersion: written?.resultsVersion,
    earlierResultsVersion: written?.earlierResultsVersion,
    wallSeconds: (job.finishedMs - job.submittedMs) / 1000,
    time: whereTimeWent(job),
    seconds: written?.seconds,
    nodes: written?.nodes,
    out: out.at,
    pictures: picturesOf(job),
  };
}

const unlessEmpty = <T>(list: T[]): T[] | undefined => (list.length > 0 ? list : undefined);

function partOf({ spec }: JobStatus): JobSummary['part'] {
  const { number, of } = spec?.share ?? {};
  return number && of ? { number, of } : undefined;
}

/** The pictures of a job. A part has none; without a histogram, the chart is missing. */
function picturesOf({ spec, counts }: JobStatus): string[] {
  if (!counts?.frames || spec!.share) return [];
  return specPipelines(spec!).flatMap(({ name, pipeline }) => {
    const pictures = pipeline.bins > 0 ? ['histogram.svg', 'preview'] : ['preview'];
    return name === '' ? pictures : pictures.map((picture) => `pipelines/${name}/${picture}`);
  });
}

const noCounts: Counts = { sources: 0, frames: 0, shards: 0, shardsDone: 0, attempts: 0, pixels: 0, quarantined: 0 };

/** The job.json of the job; undefined if this machine does not have it or cannot read it. */
async function readJobJson(out: Place, jobId: string): Promise<Partial<JobSummary> | undefined> {
  try {
    const written = JSON.parse(`${await wholeFile(out.in('job.json'))}`);
    return written?.id === jobId ? written : undefined;
  } catch {
    return undefined;
  }
}
