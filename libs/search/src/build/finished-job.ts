import { createHash } from 'node:crypto';
import { ParameterError } from '@halogrid/kernels';
import { PlaceError, placeAt } from '@halogrid/results/place';
import { wholeFile } from '@halogrid/results/whole-file';
import { IndexError } from '../store/index-error.ts';
import { identityOf, type PipelineIdentity, type PipelineSpecification } from '../store/pipeline-identity.ts';
import type { JobName } from '../store/segment-writer.ts';

/** A complete job whose histograms can be indexed. */
export interface FinishedJob extends JobName {
  /** The path or s3: URI of its features.parquet. */
  readonly features: string;
  readonly pipeline: PipelineIdentity;
}

/** The fields of a job.json that are read. */
interface JobJson {
  id: string;
  state: string;
  digest: string;
  resultsVersion?: number;
  specification: PipelineSpecification & { sources: string[]; video?: unknown; pipelines?: undefined };
}

/** The job.json of a job with named pipelines: each pipeline has a folder with a job.json of its own. */
interface NamedJobJson extends Pick<JobJson, 'id' | 'state'> {
  specification: { pipelines: { named: { name: string }[] } };
}

/**
 * Reads the job whose output is in that folder or at that s3: URI. If the job has named pipelines, it reads the one
 * called `name`, which may be left out if there is only one. Rejects with IndexError if there is no complete job, and
 * with PlaceError if a bucket cannot be read.
 */
export async function readFinishedJob(out: string, name?: string): Promise<FinishedJob> {
  const job = await readJobJson(out);
  try {
    return await finishedJob(out, job, name);
  } catch (cause) {
    if (cause instanceof IndexError || cause instanceof PlaceError) throw cause;
    const why = cause instanceof ParameterError ? `names what no pipeline has (${cause.message})` : 'is damaged';
    throw new IndexError(`'${out}' is not the output of a job: its job.json ${why}`, { cause });
  }
}

async function finishedJob(out: string, job: JobJson | NamedJobJson, name?: string): Promise<FinishedJob> {
  if (job.state !== 'complete')
    throw new IndexError(`The job in '${out}' is ${job.state}: only a complete one can be indexed`);
  if (isNamed(job)) return readFinishedJob(placeAt(out).in('pipelines', chosenName(out, job, name)).at);
  if (name !== undefined) throw new IndexError(`The pipeline of the job in '${out}' has no name: leave out '${name}'`);
  const { id, digest, resultsVersion = 1, specification } = job;
  const { sources, video } = specification;
  return {
    id,
    digest,
    out: placeAt(out).uri,
    sources: createHash('sha256').update(JSON.stringify({ sources, video })).digest('hex'),
    features: placeAt(out).in('features.parquet').at,
    pipeline: identityOf(specification, resultsVersion),
  };
}

const isNamed = (job: JobJson | NamedJobJson): job is NamedJobJson => job.specification.pipelines !== undefined;

/** Throws IndexError if it is not clear which pipeline is meant. */
function chosenName(out: string, { specification }: NamedJobJson, asked: string | undefined): string {
  const names = specification.pipelines.named.map(({ name }) => name);
  const [first, second] = names;
  if (asked === undefined && first !== undefined && second === undefined) return first;
  if (asked !== undefined && names.includes(asked)) return asked;
  const what = asked === undefined ? 'several pipelines' : `no pipeline '${asked}'`;
  throw new IndexError(`The job in '${out}' has ${what}: choose one with --pipeline, of ${names.join(', ')}`);
}

async function readJobJson(out: string): Promise<JobJson | NamedJobJson> {
  try {
    const job = JSON.parse(`${await wholeFile(placeAt(out).in('job.json'))}`);
    if (typeof job?.id === 'string' && (job.specification?.pipeline?.operations || job.specification?.pipelines?.named))
      return job;
  } catch (cause) {
    if (cause instanceof PlaceError) throw cause;
    throw new IndexError(`'${out}' is not the output of a job: its job.json cannot be read`, { cause });
  }
  throw new IndexError(`'${out}' is not the output of a job: its job.json says nothing of a pipeline`);
}
