import { createPipeline, type Grid, overBands, type Pipeline } from '@halogrid/kernels';
import type { JobSpec } from '@halogrid/proto';
import { partOut } from './output-paths.ts';

/** A job that was accepted. */
export interface AcceptedJob {
  jobId: string;
  spec: JobSpec;
  /** The first pipeline of the job. All its pipelines take the same channels. */
  pipeline: Pipeline;
  /** Folder URI for unfinished results. */
  scratch: string;
  /** URI below which a bucket has the files of `scratch`, too; absent if no other coordinator needs them there. */
  objects?: string;
  /** Who submitted it; absent if nobody was asked. */
  owner?: string | undefined;
}

/** One pipeline of a job. */
export interface JobPart {
  /** Empty if the job has one pipeline without a name. */
  name: string;
  pipeline: Pipeline;
  /** A job with this pipeline alone, which would have the same results. */
  spec: JobSpec;
}

/**
 * The pipelines of a job, in order. Throws ParameterError for operations that make no pipeline, such as an empty list.
 */
export function jobParts(spec: JobSpec): [JobPart, ...JobPart[]] {
  const { pipelines, ...rest } = spec;
  const parts = pipelines?.named.map(({ name, pipeline }) => ({
    name,
    pipeline: pipelineOf(pipeline, rest),
    spec: { ...rest, pipeline, out: partOut(spec.out, name) },
  }));
  const [first, ...others] = parts ?? [];
  if (first) return [first, ...others];
  return [{ name: '', pipeline: pipelineOf(spec.pipeline, spec), spec }];
}

/** A pipeline over the bands that the job reads. Throws ParameterError. */
const pipelineOf = (pipeline: JobSpec['pipeline'], { band }: Pick<JobSpec, 'band'>): Pipeline =>
  overBands(band?.numbers ?? [], createPipeline(pipeline?.operations ?? []));

/** The pipelines of a job, in order. Throws as jobParts does. */
export const jobPipelines = (spec: JobSpec): Pipeline[] => jobParts(spec).map(({ pipeline }) => pipeline);

/** The first pipeline of a job; all its pipelines take the same channels. Throws as jobParts does. */
export const jobPipeline = (spec: JobSpec): Pipeline => jobParts(spec)[0].pipeline;

/** The grid that a job lays over its images; one cell unless the job asks for a grid. */
export function jobGrid({ grid }: Pick<JobSpec, 'grid'>): Grid {
  return { rows: grid?.rows || 1, columns: grid?.columns || 1 };
}
