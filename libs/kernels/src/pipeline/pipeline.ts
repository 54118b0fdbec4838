import type { ImageType, PixelType } from '@halogrid/geometry';
import { catalogue, findKernel } from '../catalogue.ts';
import type { Binning } from '../kernel/binning.ts';
import type { Kernels, Meaning, ResultWords } from '../kernel/kernel.ts';
import {
  type AskedOperation,
  createOperation,
  describeOperation,
  type Operation,
  specifiedOperation,
} from '../kernel/operation.ts';
import { ParameterError } from '../kernel/parameter-error.ts';

/**
 * Kernels applied one after another, checked and complete: everything else about it can be derived. Its result is what
 * they give one by one on the whole image, each with its own border rule.
 */
export interface Pipeline {
  readonly operations: readonly Operation[];
  /** Channels of the image that the first kernel takes, and type of its pixels. */
  readonly input: readonly string[];
  readonly pixel: PixelType;
  /** What the last kernel's dense result is made of. */
  readonly output: ImageType;
  /** What the last kernel's result is. */
  readonly meaning: Meaning;
  /** The same in words. */
  readonly words: ResultWords;
  /** Bins a channel of the last kernel; 0 where it has no histogram. */
  readonly bins: number;
  /** Which values each bin counts; undefined where bin b counts the result b. */
  readonly binning: Binning | undefined;
  /** An image with a shorter side is refused. */
  readonly minSide: number;
  /** Convention tag of the last kernel. */
  readonly convention: string;
}

/** Whether every device gives a pipeline's histogram bin by bin; false where there is none. */
export const hasExactHistogram = ({ bins, binning }: Pipeline): boolean => bins > 0 && binning?.isExact !== false;

/** Kernels of a pipeline at most: more than anyone chains, and few enough to compile while one waits. */
const maxOperations = 8;

/** Parses `NAME[:key=value,…]`, e.g. `lbp:convention=nw-cw-lsb`. Throws ParameterError. */
export function parseOperation(text: string): { kernel: string; parameters: Record<string, string> } {
  const colon = text.indexOf(':');
  const kernel = colon < 0 ? text : text.slice(0, colon);
  findKernel(kernel);
  const parameters: Record<string, string> = {};
  for (const pair of colon < 0 ? [] : text.slice(colon + 1).split(',')) {
    const [key, value, more] = pair.split('=');
    if (!key || value === undefined || more !== undefined)
      throw new ParameterError(`a parameter of ${kernel}`, pair, 'key=value');
    if (Object.hasOwn(parameters, key)) throw new ParameterError(`a parameter of ${kernel}`, pair, `a single '${key}'`);
    parameters[key] = value;
  }
  return { kernel, parameters };
}

/**
 * Checks operations and derives the rest. Throws ParameterError for an unknown kernel, a wrong parameter or border, and
 * a sequence whose types do not fit. `kernels` are the catalogue's unless given.
 */
export function createPipeline(asked: readonly AskedOperation[], kernels: Kernels = catalogue): Pipeline {
  if (asked.length < 1 || asked.length > maxOperations) {
    throw new ParameterError('the number of kernels in a pipeline', String(asked.length), `1 to ${maxOperations}`);
  }
  const steps = asked.map((operation) => parseStep(operation, kernels));
  checkSequence(steps);
  const [first, last] = [steps[0]!, steps.at(-1)!];
  const { definition, operation } = last;
  return {
    operations: steps.map((step) => step.operation),
    input: first.input,
    pixel: 'u8',
    output: operation.output,
    meaning: definition.meaning(operation.settings),
    words: definition.describe(operation.settings),
    bins: definition.bins(operation.settings),
    binning: definition.binning?.(operation.settings),
    minSide: Math.max(...steps.map((step) => step.definition.minSide(step.operation.settings))),
    convention: definition.convention(operation.settings),
  };
}

/** An operation, and what is known of it while a pipeline is made. */
interface Step {
  operation: Operation;
  definition: Kernels[string];
  /** Channels that it takes. */
  input: readonly string[];
}

function parseStep(asked: AskedOperation, kernels: Kernels): Step {
  const definition = findKernel(asked.kernel, kernels);
  const operation = createOperation(asked, definition);
  return { operation, definition, input: definition.input(operation.settings) };
}

/** The operations as a job's specification has them: what createPipeline makes the same pipeline of. */
export const specifiedOperations = ({ operations }: Pick<Pipeline, 'operations'>) => operations.map(specifiedOperation);

/**
 * The same pipeline over images of that type of pixels. Only its first kernel reads them: between kernels pixels are
 * u8.
 */
export function pipelineOver(pixel: PixelType, pipeline: Pipeline): Pipeline {
  if (pipeline.pixel === pixel) return pipeline;
  const [{ reads: _, ...first }, ...others] = pipeline.operations as [Operation, ...Operation[]];
  return { ...pipeline, pixel, operations: [pixel === 'u8' ? first : { ...first, reads: pixel }, ...others] };
}

function checkSequence(steps: readonly Step[]): void {
  const borders = new Set(steps.map(({ operation }) => operation.border));
  // A wrapped halo holds pixels of the far side, which the kernel before computes by its own rule for that side.
  if (borders.has('wrap') && borders.size > 1) {
    throw new ParameterError('the borders of a pipeline', [...borders].join(', '), 'wrap for every kernel or for none');
  }
  for (const [i, { operation: next, input: wanted }] of steps.entries()) {
    const before = steps[i - 1]?.operation;
    if (!before) continue;
    const { sample, channels } = before.output;
    if (sample === 'u8' && channels.join() === wanted.join()) continue;
    const hint = before.kernel === 'conv' && sample !== 'u8' ? ', which gives u8 with as=u8' : '';
    throw new ParameterError(
      `the input of kernel ${i + 1} of the pipeline (${next.kernel})`,
      `${sample} ${channels.join(' ')} of ${before.kernel}${hint}`,
      `u8 ${wanted.join(' ')}`,
    );
  }
}

/**
 * One line that is equal for equal pipelines, e.g. `lbp:convention=nw-cw-msb border=interior`; kernels are joined by `
 * > `.
 */
export const describePipeline = ({ operations }: Pick<Pipeline, 'operations'>): string =>
  operations.map(describeOperation).join(' > ');
