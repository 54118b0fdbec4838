import { type Pipeline, specifiedOperations } from '@halogrid/kernels';
import type { JobSpec, NamedPipeline } from '@halogrid/proto';
import { isPipelineName, maxPipelines, pipelineNames } from '@halogrid/proto/job-limits';
import { jobParts } from './accepted-job.ts';
import { Refusal, refuseValue } from './refusal.ts';

/**
 * Checks the pipelines of a specification, one or several: what they are, and the fields of the specification that say so, in
 * canonical form. Throws Refusal, and ParameterError for operations that make no pipeline.
 */
export function checkPipelines(given: JobSpec): {
  pipelines: [Pipeline, ...Pipeline[]];
  fields: Pick<JobSpec, 'pipeline'> & { pipelines?: { named: Omit<NamedPipeline, 'op'>[] } };
} {
  const named = given.pipelines?.named ?? [];
  if (given.pipelines) checkNames(given);
  const [first, ...others] = jobParts(given);
  const pipelines: [Pipeline, ...Pipeline[]] = [first.pipeline, ...others.map(({ pipeline }) => pipeline)];
  const specified = pipelines.map((pipeline) => ({ operations: specifiedOperations(pipeline) }));
  if (named.length === 0) return { pipelines, fields: { pipeline: specified[0] } };
  const odd = others.find(({ pipeline }) => pipeline.input.join() !== first.pipeline.input.join());
  if (odd) {
    throw new Refusal(
      'invalid',
      `Expected pipelines of the same channels, because images are decoded once for all, but '${first.name}' takes ` +
        `${first.pipeline.input.join(', ')} and '${odd.name}' ${odd.pipeline.input.join(', ')}`,
      'pipelines.named',
    );
  }
  const list = named.map(({ name }, i) => ({ name, pipeline: specified[i] }));
  return { pipelines, fields: { pipeline: undefined, pipelines: { named: list } } };
}

function checkNames({ pipeline, pipelines }: JobSpec): void {
  const { named } = pipelines!;
  if (pipeline) throw new Refusal('invalid', 'Expected pipeline or pipelines but received both', 'pipelines');
  if (named.length < 1 || named.length > maxPipelines) {
    refuseValue('the number of pipelines', named.length, `1 to ${maxPipelines}`, 'pipelines.named');
  }
  const taken = new Set<string>();
  for (const [i, { name }] of named.entries()) {
    const field = `pipelines.named[${i}].name`;
    if (!isPipelineName(name)) refuseValue('the name of a pipeline', name, pipelineNames, field);
    if (taken.has(name.toLowerCase()))
      refuseValue('the name of a pipeline', name, 'one that no other has, also with other case,', field);
    taken.add(name.toLowerCase());
  }
}
