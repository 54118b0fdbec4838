import { type BorderMode, parseBorderMode } from './border.ts';
import { findKernel } from './catalogue.ts';
import type { Parameters } from './kernel.ts';
import { ParameterError } from './parameter-error.ts';

/** One kernel with its parameters, all of them. */
export interface Operation {
  readonly kernel: string;
  readonly parameters: Parameters;
}

/** What is computed, checked and complete: everything else about it can be derived. */
export interface Pipeline {
  readonly operations: readonly Operation[];
  readonly border: BorderMode;
  /** Pixels needed around a tile on each side: the sum of the kernels' halos. */
  readonly halo: number;
  /** Histogram channels of the last kernel, in order. */
  readonly channels: readonly string[];
  /** Bins a channel. */
  readonly bins: number;
  /** Convention tag of the last kernel. */
  readonly convention: string;
}

/** Parses `NAME[:key=value,…]`, e.g. `lbp:convention=nw-cw-lsb`. Throws ParameterError. */
export function parseOperation(text: string): Operation {
  const colon = text.indexOf(':');
  const kernel = colon < 0 ? text : text.slice(0, colon);
  const given: Record<string, string> = {};
  for (const pair of colon < 0 ? [] : text.slice(colon + 1).split(',')) {
    const [key, value, more] = pair.split('=');
    if (!key || value === undefined || more !== undefined)
      throw new ParameterError(`--op ${kernel}`, pair, 'key=value');
    if (key in given) throw new ParameterError(`--op ${kernel}`, pair, `a single '${key}'`);
    given[key] = value;
  }
  return { kernel, parameters: findKernel(kernel).parseParameters(given) };
}

/**
 * Checks operations and a border and derives the rest. Throws ParameterError for an unknown kernel, a wrong parameter or
 * border, or a sequence that cannot run.
 */
export function createPipeline(
  operations: readonly { kernel: string; parameters: Record<string, string> }[],
  border: string,
): Pipeline {
  if (operations.length !== 1) {
    const names = operations.map((o) => o.kernel).join(' then ') || 'nothing';
    throw new ParameterError('the pipeline', names, 'a single kernel');
  }
  const checked = operations.map(({ kernel, parameters }) => {
    return { kernel, parameters: findKernel(kernel).parseParameters(parameters) };
  });
  const last = checked[checked.length - 1]!;
  const definition = findKernel(last.kernel);
  return {
    operations: checked,
    border: parseBorderMode(border),
    halo: checked.reduce((sum, o) => sum + findKernel(o.kernel).halo(o.parameters), 0),
    channels: definition.channels(last.parameters),
    bins: definition.bins(last.parameters),
    convention: definition.convention(last.parameters),
  };
}

/** One line that is equal for equal pipelines, e.g. `lbp:convention=nw-cw-msb border=interior`. */
export function describePipeline(pipeline: Pick<Pipeline, 'operations' | 'border'>): string {
  const operations = pipeline.operations.map(({ kernel, parameters }) => {
    const pairs = Object.keys(parameters)
      .sort()
      .map((key) => `${key}=${parameters[key]}`);
    return pairs.length ? `${kernel}:${pairs.join(',')}` : kernel;
  });
  return `${operations.join(' ')} border=${pipeline.border}`;
}
