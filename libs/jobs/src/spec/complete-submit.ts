import { join } from 'node:path';
import { createPipeline, ParameterError, parseOperation } from '@halogrid/kernels';
import type { JobSpec, Pipeline, SubmitRequest } from '@halogrid/proto';
import { named, sentence } from '@halogrid/proto/sentence';
import { isBucketUri, SourceUriError, sourceAccess } from '@halogrid/sources';
import { toOutUri, toUri } from '@halogrid/sources/to-uri';
import { Refusal, refusalOf } from '../refusal.ts';

/** The job of a request, with a folder for its results. */
export interface CompleteSubmit {
  spec: JobSpec;
  /** Results go to a folder inside `spec.out` that is named by the job's id. */
  nameOutByJob: boolean;
}

/**
 * Completes a request: fills in what it leaves out, parses texts of operations, makes URIs of paths. An output that the
 * request does not name goes below the first data root, or below `folder` if there is none. Throws Refusal.
 */
export function completeSubmit({ spec, nameOutByJob }: SubmitRequest, folder = process.cwd()): CompleteSubmit {
  if (!spec)
    throw new Refusal('invalid', sentence`Expected a specification of the job for ${named('spec')} but received none`);
  const { op, pipelines, ...rest } = spec;
  const pipeline = pipelineOf(spec.pipeline, op, '');
  const list = pipelines?.named.map((one, i) => {
    const { op: texts, ...other } = one;
    return { ...other, op: [], pipeline: pipelineOf(one.pipeline, texts, `pipelines.named[${i}].`) };
  });
  return {
    spec: {
      ...rest,
      op: [],
      pipeline: pipeline ?? (list ? undefined : { operations: [{ kernel: 'lbp', parameters: {}, border: '' }] }),
      pipelines: list && { named: list },
      sources: spec.sources.map((source) => (isPath(source) ? toUri(source, '/') : source)),
      mapFormat: spec.mapFormat || 'none',
      out: outOf(spec.out || join(sourceAccess().roots?.[0] ?? folder, 'halogrid-out')),
    },
    nameOutByJob: nameOutByJob || spec.out === '',
  };
}

const isPath = (text: string): boolean => text.startsWith('/');

function outOf(out: string): string {
  // checkSpec checks anything else.
  if (!isPath(out) && !isBucketUri(out)) return out;
  try {
    return toOutUri(out, '/');
  } catch (error) {
    throw error instanceof SourceUriError
      ? new Refusal('invalid', sentence`${error.message} (${named('out')})`)
      : error;
  }
}

/** The pipeline of operations that are given as messages, or as `texts`. `where` is the start of their field's name. */
function pipelineOf(given: Pipeline | undefined, texts: readonly string[], where: string): Pipeline | undefined {
  if (texts.length === 0) return given && checkOperations(given, `${where}pipeline.operations`);
  if (given)
    throw new Refusal(
      'invalid',
      sentence`Expected ${named(`${where}op`)} or ${named(`${where}pipeline`)} but received both`,
    );
  const operations = texts.map((text, i) => {
    return inField(`${where}op[${i}]`, () => ({ ...parseOperation(text), border: '' }));
  });
  return checkOperations({ operations }, `${where}op`);
}

/**
 * If the operations make no pipeline, the refusal names the first operation that is wrong by itself, or the whole
 * field.
 */
function checkOperations(pipeline: Pipeline, field: string): Pipeline {
  const { operations } = pipeline;
  inField(field, () => {
    try {
      createPipeline(operations);
    } catch (error) {
      for (const [i, operation] of operations.entries()) inField(`${field}[${i}]`, () => createPipeline([operation]));
      throw error;
    }
  });
  return pipeline;
}

function inField<Made>(field: string, make: () => Made): Made {
  try {
    return make();
  } catch (error) {
    throw error instanceof ParameterError ? refusalOf(error, field) : error;
  }
}
