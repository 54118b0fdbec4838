import { createPipeline, type Grid, type Pipeline } from '@halogrid/kernels';
import type { JobSpec } from '@halogrid/proto';
import { partOut } from './output-paths.ts';

/** A job that was accepted. */
export interface AcceptedJob {
  jobId: string;
  spec: JobSpec;
  /** The only one, or the first: what all take is what it takes. */
  pipeline: Pipeline;
  /** Folder URI for unfinished results. */
  scratch: string;
}

/** One pipeline of a job, and what a job of its own would be that has the same results. */
export interface JobPart {
  /** Empty where the job has one pipeline without a name. */
  name: string;
  pipeline: Pipeline;
  spec: JobSpec;
}

/** What a job computes, in order. Throws ParameterError for operations that make no pipeline, as none at all do. */
export function jobParts(spec: JobSpec): [JobPart, ...JobPart[]] {
  const { pipelines, ...rest } = spec;
  const parts = pipelines?.named.map(({ name, pipeline }) => ({
    name,
    pipeline: createPipeline(pipeline?.operations ?? []),
    spec: { ...rest, pipeline, out: partOut(spec.out, name) },
  }));
  const [first, ...others] = parts ?? [];
  if (first) return [first, ...others];
  return [{ name: '', pipeline: createPipeline(spec.pipeline?.operations ?? []), spec }];
}

/** The pipelines of a job, in order. Throws as jobParts. */
export const jobPipelines = (spec: JobSpec): Pipeline[] => jobParts(spec).map(({ pipeline }) => pipeline);

/** The first pipeline of a job, which takes what all take. Throws as jobParts. */
export const jobPipeline = (spec: JobSpec): Pipeline => jobParts(spec)[0].pipeline;

/** The grid that a job lays over its images; one cell where it asks for none. */
export function jobGrid({ grid }: Pick<JobSpec, 'grid'>): Grid {
  return { rows: grid?.rows || 1, columns: grid?.columns || 1 };
}
