import { type BorderMode, createPipeline, kernelNames, type Pipeline, specifiedOperations } from '@halogrid/kernels';
import { isPipelineName, type JobSpec, pipelineNames } from '@halogrid/proto';
import { UsageError } from '@halogrid/service';
import { readOperation } from './read-operation.ts';

/** What --op and --pipeline ask for. The name is empty where --op says it. */
export interface AskedPipeline {
  name: string;
  pipeline: Pipeline;
}

interface PipelineChoice {
  op?: string[];
  pipeline?: string[];
  border?: BorderMode;
}

/** A plus before the name of a kernel, as a parameter has none. */
const betweenKernels = new RegExp(`\\+(?=(?:${kernelNames.join('|')})(?:[:+]|$))`);

/** What is computed, at least one; files of matrices are seen from `folder`. Throws UsageError or ParameterError. */
export function readPipelines({ op, pipeline, border }: PipelineChoice, folder: string): AskedPipeline[] {
  if (op && pipeline) {
    throw new UsageError('Expected --op or --pipeline but received both: --pipeline has its own kernels');
  }
  const create = (ops: readonly string[]) => {
    return createPipeline(ops.map((text) => ({ ...readOperation(text, folder), border })));
  };
  if (!pipeline) return [{ name: '', pipeline: create(op ?? ['lbp']) }];
  return pipeline.map(readPipeline).map(({ name, ops }) => ({ name, pipeline: saying(name, () => create(ops)) }));
}

/** The fields of a specification that say what is computed. */
export function specifiedPipelines(asked: readonly AskedPipeline[]): Pick<JobSpec, 'pipeline' | 'pipelines'> {
  const named = asked.map(({ name, pipeline }) => {
    return { name, pipeline: { operations: specifiedOperations(pipeline) }, op: [] };
  });
  const [first] = named;
  return first?.name === '' ? { pipeline: first.pipeline } : { pipeline: undefined, pipelines: { named } };
}

/** Runs `check`, and has what it throws say the name of the pipeline, where it has one. */
export function saying<Result>(name: string, check: () => Result): Result {
  try {
    return check();
  } catch (error) {
    throw name === '' ? error : new UsageError(`${(error as Error).message}, in --pipeline ${name}`);
  }
}

/** Takes `NAME=OP[+OP…]` apart, e.g. `edges=conv:kernel=gaussian-5,as=u8+lbp`. Throws UsageError. */
function readPipeline(text: string): { name: string; ops: string[] } {
  const equals = text.indexOf('=');
  const colon = text.indexOf(':');
  const isNamed = equals >= 0 && !(colon >= 0 && colon < equals);
  if (!isNamed) throw new UsageError(`Expected NAME=OP for --pipeline, such as lbp=lbp, but received '${text}'`);
  const name = text.slice(0, equals);
  if (!isPipelineName(name)) {
    throw new UsageError(`Expected ${pipelineNames} for the name of --pipeline but received '${name}'`);
  }
  return { name, ops: text.slice(equals + 1).split(betweenKernels) };
}
