// The kernels without a cluster, for other programs: `halogrid/kernels` of the npm package. Runs in browsers and in
// Node.js.

import { borderModes } from '../kernel/border.ts';
import type { AskedOperation } from '../kernel/operation.ts';
import { ParameterError } from '../kernel/parameter-error.ts';
import { kernelForms } from '../kernel-forms.ts';
import { createPipeline, type Pipeline, parseOperation } from '../pipeline/pipeline.ts';
import { checkOptions, runOptions, shown } from './check-call.ts';
import { computePicture } from './run-pipeline.ts';
import type {
  Border,
  BorderOptions,
  ConvParameters,
  GlcmParameters,
  LbpParameters,
  LdpParameters,
  Picture,
  Result,
  Run,
  RunOptions,
} from './types.ts';

export { ParameterError } from '../kernel/parameter-error.ts';
export { type KernelForm, kernelForms, type ParameterForm } from '../kernel-forms.ts';
export { open } from './open.ts';
export type * from './types.ts';

/** The rules for pixels outside a picture. */
export const borders: readonly Border[] = borderModes;

/** Local Binary Patterns of a picture. */
export const lbp: Run<BorderOptions & LbpParameters> = kernel('lbp');

/** Local Derivative Patterns of a picture, in four directions. */
export const ldp: Run<BorderOptions & LdpParameters> = kernel('ldp');

/** Convolution of a picture. */
export const conv: Run<BorderOptions & ConvParameters> = kernel('conv');

/** Gray-Level Co-occurrence Matrices of a picture, one for each offset. */
export const glcm: Run<BorderOptions & GlcmParameters> = kernel('glcm');

/**
 * Kernels run one after another, written as for `--op`, e.g. `['conv:kernel=gaussian-5,as=u8', 'lbp:radius=2']`. They
 * are checked once, and can then run on any number of pictures. Throws ParameterError.
 */
export function pipeline(operations: readonly string[], options?: BorderOptions): Run<object> {
  const { border } = checkOptions(options, ['border']);
  if (!Array.isArray(operations) || !operations.every((text) => typeof text === 'string')) {
    throw new ParameterError('the pipeline', shown(operations), "a list of texts, such as ['lbp:radius=2'],");
  }
  return runOf(createPipeline(operations.map((text) => ({ ...parseOperation(text), border }))));
}

const runOf = (made: Pipeline): Run<object> => {
  return async <WithMap extends boolean = true>(picture: Picture, options?: RunOptions<WithMap>) =>
    computePicture(made, picture, checkOptions(options, runOptions)) as Promise<Result<WithMap>>;
};

/** The function that runs kernel `name`. Options that are not options of every run are parameters of the kernel. */
function kernel(name: string) {
  const runs = new Map<string, Run<object>>();
  let names: string[] | undefined;
  return async <WithMap extends boolean = true>(
    picture: Picture,
    options?: RunOptions<WithMap> & BorderOptions & object,
  ): Promise<Result<WithMap>> => {
    names ??= [...parametersOf(name), 'border', ...runOptions];
    const { device, grid, map, border, ...parameters } = checkOptions(options, names);
    const asked: AskedOperation = { kernel: name, parameters: textsOf(parameters), border };
    const key = JSON.stringify(asked);
    const run = runs.get(key) ?? runOf(createPipeline([asked]));
    // Only the last run is kept: successive frames of a camera usually have the same parameters.
    runs.clear();
    runs.set(key, run);
    return run(picture, { device, grid, map });
  };
}

function parametersOf(name: string): string[] {
  const { parameters, further } = kernelForms().find((form) => form.name === name)!;
  return [...parameters, ...further].map((parameter) => parameter.name);
}

/** Parameters as texts, without the undefined ones. */
function textsOf(parameters: object): Record<string, string> {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given.map(([name, value]) => [name, shown(value)]));
}
