import { createPipeline, type Grid, type Pipeline } from '@halogrid/kernels';
import type { JobSpec } from '@halogrid/proto';

/** A job that was accepted. */
export interface AcceptedJob {
  jobId: string;
  spec: JobSpec;
  pipeline: Pipeline;
  /** Folder URI for unfinished results. */
  scratch: string;
}

/** What a job computes. Throws ParameterError for operations that make no pipeline, as none at all do. */
export function jobPipeline({ pipeline }: Pick<JobSpec, 'pipeline'>): Pipeline {
  return createPipeline(pipeline?.operations ?? []);
}

/** The grid that a job lays over its images; one cell where it asks for none. */
export function jobGrid({ grid }: Pick<JobSpec, 'grid'>): Grid {
  return { rows: grid?.rows || 1, columns: grid?.columns || 1 };
}
