import { createPipeline } from '@halogrid/kernels';
import type { Lease } from '@halogrid/proto';
import type { LeasedPipeline } from './shard-run.ts';

/**
 * What a lease has computed of each source, in its order. Throws ParameterError, and one sentence where there is nothing, or not all
 * take the same channels.
 */
export function leasedPipelines({ pipeline, pipelines, scratch }: Lease): LeasedPipeline[] {
  const leased = pipelines
    ? pipelines.named.map(({ name, pipeline: its }) => ({
        pipeline: createPipeline(its?.operations ?? []),
        scratch: `${scratch}/pipelines/${name}`,
      }))
    : pipeline
      ? [{ pipeline: createPipeline(pipeline.operations), scratch }]
      : [];
  const [first] = leased;
  if (!first) throw new Error('The lease has no pipeline');
  if (leased.some(({ pipeline: { input } }) => input.join() !== first.pipeline.input.join())) {
    throw new Error('The pipelines of the lease take different channels');
  }
  return leased;
}
