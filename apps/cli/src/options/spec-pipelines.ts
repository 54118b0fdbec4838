import { createPipeline, type Pipeline } from '@halogrid/kernels';
import type { JobSpec } from '@halogrid/proto';

/**
 * What a checked specification has computed, in order. The name of the only pipeline of a job is empty where it has
 * none.
 */
export function specPipelines({ pipeline, pipelines }: Pick<JobSpec, 'pipeline' | 'pipelines'>): {
  name: string;
  pipeline: Pipeline;
}[] {
  const named = pipelines?.named ?? [{ name: '', pipeline }];
  return named.map((its) => ({ name: its.name, pipeline: createPipeline(its.pipeline!.operations) }));
}
