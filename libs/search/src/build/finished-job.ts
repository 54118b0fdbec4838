import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { IndexError } from '../store/index-error.ts';
import { identityOf, type PipelineIdentity, type PipelineSpecification } from '../store/pipeline-identity.ts';
import type { JobName } from '../store/segment-writer.ts';

/** A complete job whose histograms can be indexed. */
export interface FinishedJob extends JobName {
  /** Path of its features.parquet. */
  readonly features: string;
  readonly pipeline: PipelineIdentity;
}

/** What of a job.json is read. */
interface JobJson {
  id: string;
  state: string;
  digest: string;
  resultsVersion?: number;
  specification: PipelineSpecification & { sources: string[]; video?: unknown };
}

/** The job whose output is in that folder. Rejects with IndexError where there is none that is complete. */
export async function readFinishedJob(out: string): Promise<FinishedJob> {
  const job = await readJobJson(out);
  if (job.state !== 'complete')
    throw new IndexError(`The job in '${out}' is ${job.state}: only a complete one can be indexed`);
  const { id, digest, resultsVersion = 1, specification } = job;
  const { sources, video } = specification;
  return {
    id,
    digest,
    out: pathToFileURL(out).href,
    sources: createHash('sha256').update(JSON.stringify({ sources, video })).digest('hex'),
    features: join(out, 'features.parquet'),
    pipeline: identityOf(specification, resultsVersion),
  };
}

async function readJobJson(out: string): Promise<JobJson> {
  try {
    const job = JSON.parse(await readFile(join(out, 'job.json'), 'utf8'));
    if (typeof job?.id === 'string' && job.specification?.pipeline?.operations) return job;
  } catch (cause) {
    throw new IndexError(`'${out}' is no output of a job: its job.json cannot be read`, { cause });
  }
  throw new IndexError(`'${out}' is no output of a job: its job.json says nothing of a pipeline`);
}
