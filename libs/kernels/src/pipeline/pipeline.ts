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
import type { Pairs } from '../kernel/pairs.ts';
import { ParameterError } from '../kernel/parameter-error.ts';

/**
 * Kernels applied one after another, checked and complete; everything else is derived from them. The result equals
 * running them one by one on the whole image, each with its own border rule.
 */
export interface Pipeline {
  readonly operations: readonly Operation[];
  /** The channels of the image that the first kernel reads, and the type of its pixels. */
  readonly input: readonly string[];
  readonly pixel: PixelType;
  /** The bands that are read, each as gray, if there are several; see `overBands`. */
  readonly bands?: readonly number[];
  /** The type of the dense result: the last kernel's or, of several bands, with its channels for each band in turn. */
  readonly output: ImageType;
  /** The meaning of the last kernel's result. */
  readonly meaning: Meaning;
  /** A description of the last kernel's result. */
  readonly words: ResultWords;
  /** Bins per channel of the last kernel; 0 if it has no histogram. */
  readonly bins: number;
  /** The values that each bin counts; undefined if bin b counts the result b. */
  readonly binning: Binning | undefined;
  /** The pairs that results are; undefined if every channel counts the same pixels once. */
  readonly pairs: Pairs | undefined;
  /** Images with a shorter side are refused. */
  readonly minSide: number;
  /** Convention tag of the last kernel. */
  readonly convention: string;
}

/** Whether all devices give exactly the same histogram; false if there is no histogram. */
export const hasExactHistogram = ({ bins, binning }: Pipeline): boolean => bins > 0 && binning?.isExact !== false;

/** The most kernels of a pipeline: more than are useful, and few enough to compile while a user waits. */
const maxOperations = 8;

/** Parses `NAME[:key=value,…]`, e.g. `lbp:convention=nw-cw-lsb`. Throws ParameterError. */
export function parseOperation(text: string): { kernel: string; parameters: Record<string, string> } {
  const colon = text.indexOf(':');
  const kernel = colon < 0 ? text : text.slice(0, colon);
  const [, name, rest] = /^(\w+)[, ](.*=.*)$/.exec(text) ?? [];
  if (name) throw new ParameterError('the kernel', text, 'NAME:key=value,key=value', [`${name}:${rest}`]);
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
 * a sequence whose types do not match. Default of `kernels`: the catalogue.
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
    pairs: operation.pairs,
    minSide: Math.max(...steps.map((step) => step.definition.minSide(step.operation.settings))),
    convention: definition.convention(operation.settings),
  };
}

/** An operation, with its definition, while a pipeline is made. */
interface Step {
  operation: Operation;
  definition: Kernels[string];
  /** The channels that it reads. */
  input: readonly string[];
}

function parseStep(asked: AskedOperation, kernels: Kernels): Step {
  const definition = findKernel(asked.kernel, kernels);
  const operation = createOperation(asked, definition);
  return { operation, definition, input: definition.input(operation.settings) };
}

/** The operations as a job's specification has them: createPipeline makes the same pipeline from them. */
export const specifiedOperations = ({ operations }: Pick<Pipeline, 'operations'>) => operations.map(specifiedOperation);

/**
 * The same pipeline for images with that type of pixels. Only its first kernel reads them: between kernels pixels are
 * u8.
 */
export function pipelineOver(pixel: PixelType, pipeline: Pipeline): Pipeline {
  if (pipeline.pixel === pixel) return pipeline;
  const [{ reads: _, ...first }, ...others] = pipeline.operations as [Operation, ...Operation[]];
  return { ...pipeline, pixel, operations: [pixel === 'u8' ? first : { ...first, reads: pixel }, ...others] };
}

function checkSequence(steps: readonly Step[]): void {
  const borders = new Set(steps.map(({ operation }) => operation.border));
  // A wrapped halo holds pixels of the opposite side, which the kernel before computes by its own rule for that side.
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
 * One line that is the same for equal pipelines, e.g. `lbp:convention=nw-cw-msb border=interior`. Kernels are joined by
 * ` > `. Several bands follow, as in ` bands=2,4`.
 */
export const describePipeline = ({ operations, bands }: Pick<Pipeline, 'operations' | 'bands'>): string =>
  operations.map(describeOperation).join(' > ') + (bands ? ` bands=${bands.join(',')}` : '');
