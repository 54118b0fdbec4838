import { createPipeline, overBands, type Pipeline } from '@halogrid/kernels';
import type { JobSpec } from '@halogrid/proto';

/** The pipelines of a checked specification, in order, over its bands. The name of an only pipeline may be empty. */
export function specPipelines({ pipeline, pipelines, band }: Pick<JobSpec, 'pipeline' | 'pipelines' | 'band'>): {
  name: string;
  pipeline: Pipeline;
}[] {
  const named = pipelines?.named ?? [{ name: '', pipeline }];
  return named.map((its) => ({
    name: its.name,
    pipeline: overBands(band?.numbers ?? [], createPipeline(its.pipeline!.operations)),
  }));
}
