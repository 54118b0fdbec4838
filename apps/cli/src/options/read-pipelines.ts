import {
  type BorderMode,
  createPipeline,
  kernelNames,
  ParameterError,
  type Pipeline,
  specifiedOperations,
} from '@halogrid/kernels';
import { isPipelineName, type JobSpec, pipelineNames } from '@halogrid/proto';
import { named, type Sentence, sentence } from '@halogrid/proto/sentence';
import { UsageError } from '@halogrid/service';
import { readOperation } from './read-operation.ts';

/** A pipeline that --op or --pipeline asks for. With --op, the name is empty. */
export interface AskedPipeline {
  name: string;
  pipeline: Pipeline;
}

interface PipelineChoice {
  op?: string[];
  pipeline?: string[];
  border?: BorderMode;
}

/** A plus sign before the name of a kernel. Parameters have no such text. */
const betweenKernels = new RegExp(`\\+(?=(?:${kernelNames.join('|')})(?:[:+]|$))`);

/** The pipelines to compute, at least one. Files of matrices are seen from `folder`. Throws UsageError. */
export function readPipelines({ op, pipeline, border }: PipelineChoice, folder: string): AskedPipeline[] {
  if (op && pipeline) {
    throw new UsageError(
      sentence`Expected ${named('--op')} or ${named('--pipeline')} but received both: ${named('--pipeline')} has its own kernels`,
    );
  }
  const create = (ops: readonly string[]) => {
    return createPipeline(ops.map((text) => ({ ...readOperation(text, folder), border })));
  };
  if (!pipeline) return [{ name: '', pipeline: saying('', () => create(op ?? ['lbp'])) }];
  return pipeline.map(readPipeline).map(({ name, ops }) => ({ name, pipeline: saying(name, () => create(ops)) }));
}

/** The fields of a specification for these pipelines. */
export function specifiedPipelines(asked: readonly AskedPipeline[]): Pick<JobSpec, 'pipeline' | 'pipelines'> {
  const named = asked.map(({ name, pipeline }) => {
    return { name, pipeline: { operations: specifiedOperations(pipeline) }, op: [] };
  });
  const [first] = named;
  return first?.name === '' ? { pipeline: first.pipeline } : { pipeline: undefined, pipelines: { named } };
}

/** Runs `check` and adds the name of the pipeline, if it has one, to the sentence of an error. Throws UsageError. */
export function saying<Result>(name: string, check: () => Result): Result {
  if (name === '') return inOption(named('--op'), check);
  const option = sentence`${named('--pipeline')} ${name}`;
  try {
    return inOption(option, check);
  } catch (error) {
    if (!(error instanceof UsageError) || error.sentence.field === option.field) throw error;
    throw new UsageError(sentence`${error.sentence}, in ${option}`);
  }
}

/** Runs `check` and adds the option to the sentence of an error that names none. Throws UsageError. */
export function inOption<Result>(option: Sentence, check: () => Result): Result {
  try {
    return check();
  } catch (error) {
    if (error instanceof ParameterError) {
      const [before, after] = error.aroundName();
      throw new UsageError(sentence`${before}${option}${after}`);
    }
    if (!(error instanceof UsageError) || error.sentence.field !== undefined) throw error;
    throw new UsageError(sentence`${error.sentence} (${option})`);
  }
}

/** Parses `NAME=OP[+OP…]`, such as `edges=conv:kernel=gaussian-5,as=u8+lbp`. Throws UsageError. */
function readPipeline(text: string): { name: string; ops: string[] } {
  const equals = text.indexOf('=');
  const colon = text.indexOf(':');
  const isNamed = equals >= 0 && !(colon >= 0 && colon < equals);
  if (!isNamed)
    throw new UsageError(
      sentence`Expected NAME=OP for ${named('--pipeline')}, such as lbp=lbp, but received '${text}'`,
    );
  const name = text.slice(0, equals);
  if (!isPipelineName(name)) {
    throw new UsageError(
      sentence`Expected ${pipelineNames} for the name of ${named('--pipeline')} but received '${name}'`,
    );
  }
  return { name, ops: text.slice(equals + 1).split(betweenKernels) };
}
