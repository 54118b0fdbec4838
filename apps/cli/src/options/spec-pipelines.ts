import { createPipeline, type Pipeline } from '@halogrid/kernels';
import type { JobSpec } from '@halogrid/proto';

/** The pipelines of a checked specification, in order. The name of an only pipeline may be empty. */
export function specPipelines({ pipeline, pipelines }: Pick<JobSpec, 'pipeline' | 'pipelines'>): {
  name: string;
  pipeline: Pipeline;
}[] {
  const named = pipelines?.named ?? [{ name: '', pipeline }];
  return named.map((its) => ({ name: its.name, pipeline: createPipeline(its.pipeline!.operations) }));
}
