import { type Pipeline, specifiedOperations } from '@halogrid/kernels';
import type { JobSpec, NamedPipeline } from '@halogrid/proto';
import { isPipelineName, maxPipelines, pipelineNames } from '@halogrid/proto/job-limits';
import { named, sentence } from '@halogrid/proto/sentence';
import { jobParts } from '../accepted-job.ts';
import { Refusal, refuseValue } from '../refusal.ts';

/**
 * Checks the pipelines of a specification, one or several. Returns them, and the canonical form of the fields that
 * specify them. Throws Refusal, and ParameterError for operations that make no pipeline.
 */
export function checkPipelines(given: JobSpec): {
  pipelines: [Pipeline, ...Pipeline[]];
  fields: Pick<JobSpec, 'pipeline'> & { pipelines?: { named: Omit<NamedPipeline, 'op'>[] } };
} {
  const asked = given.pipelines?.named ?? [];
  if (given.pipelines) checkNames(given);
  const [first, ...others] = jobParts(given);
  const pipelines: [Pipeline, ...Pipeline[]] = [first.pipeline, ...others.map(({ pipeline }) => pipeline)];
  const specified = pipelines.map((pipeline) => ({ operations: specifiedOperations(pipeline) }));
  if (asked.length === 0) return { pipelines, fields: { pipeline: specified[0] } };
  const odd = others.find(({ pipeline }) => pipeline.input.join() !== first.pipeline.input.join());
  if (odd) {
    const takes = `'${first.name}' takes ${first.pipeline.input.join(', ')} and '${odd.name}' ${odd.pipeline.input.join(', ')}`;
    throw new Refusal(
      'invalid',
      sentence`Expected ${named('pipelines.named')} of the same channels, because images are decoded once for all, but ${takes}`,
    );
  }
  const list = asked.map(({ name }, i) => ({ name, pipeline: specified[i] }));
  return { pipelines, fields: { pipeline: undefined, pipelines: { named: list } } };
}

function checkNames({ pipeline, pipelines }: JobSpec): void {
  const { named: list } = pipelines!;
  if (pipeline) {
    throw new Refusal(
      'invalid',
      sentence`Expected ${named('pipeline')} or ${named('pipelines')} but received both`,
      'pipelines',
    );
  }
  if (list.length < 1 || list.length > maxPipelines) {
    refuseValue(sentence`the number of ${named('pipelines.named')}`, list.length, `1 to ${maxPipelines}`);
  }
  const taken = new Set<string>();
  for (const [i, { name }] of list.entries()) {
    const field = `pipelines.named[${i}].name`;
    if (!isPipelineName(name)) refuseValue(field, name, pipelineNames);
    if (taken.has(name.toLowerCase())) refuseValue(field, name, 'a name that no other has, also with other case,');
    taken.add(name.toLowerCase());
  }
}
