import { createPipeline, type Pipeline } from '@halogrid/kernels';
import type { JobSpec } from '@halogrid/proto';

/** What a job computes. Throws ParameterError for operations that make no pipeline, as none at all do. */
export function jobPipeline({ pipeline }: Pick<JobSpec, 'pipeline'>): Pipeline {
  return createPipeline(pipeline?.operations ?? []);
}
