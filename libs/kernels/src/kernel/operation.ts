import type { ImageType, PixelType } from '@halogrid/geometry';
import { type BorderMode, parseBorderMode } from './border.ts';
import type { KernelDefinition, Parameters } from './kernel.ts';
import type { Pairs } from './pairs.ts';
import type { ItemResult, PlaneItem } from './plane-item.ts';

/** A kernel as requested: missing fields take their defaults. */
export interface AskedOperation {
  readonly kernel: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly border?: string;
}

/** One kernel with all its parameters and its border rule, and the facts that follow from them. */
export interface Operation<Settings = unknown> {
  readonly kernel: string;
  readonly parameters: Parameters;
  readonly border: BorderMode;
  /** The settings that the parameters stand for, as the kernel's programs read them. */
  readonly settings: Settings;
  /** Pixels read around a pixel, on each side. */
  readonly halo: number;
  /** The type of its dense result. */
  readonly output: ImageType;
  /** The pairs that results are; absent if every channel counts the same pixels once. */
  readonly pairs?: Pairs;
  /** Type of the pixels that it reads. Default: u8. */
  readonly reads?: PixelType;
}

/** Throws ParameterError for a wrong parameter or border. */
export function createOperation<Settings>(
  { kernel, parameters: given, border }: AskedOperation,
  definition: KernelDefinition<Settings>,
): Operation<Settings> {
  const parameters = definition.complete(given);
  const settings = definition.parse(parameters);
  const pairs = definition.pairs?.(settings);
  return {
    kernel,
    parameters,
    border: border ? parseBorderMode(border) : definition.defaultBorder(settings),
    settings,
    halo: definition.halo(settings),
    output: definition.output(settings),
    ...(pairs && { pairs }),
  };
}

/** The operation as the specification of a job has it: createOperation makes the same operation from it. */
export const specifiedOperation = ({ kernel, parameters, border }: Operation) => ({
  kernel,
  parameters: { ...parameters },
  border,
});

/** A text that is the same for equal operations, e.g. `lbp:convention=nw-cw-msb border=interior`. */
export function describeOperation({ kernel, parameters, border }: Operation): string {
  const pairs = Object.keys(parameters)
    .sort()
    .map((key) => `${key}=${parameters[key]}`);
  return `${pairs.length ? `${kernel}:${pairs.join(',')}` : kernel} border=${border}`;
}

/** Computes one kernel on the planes of one item. */
export type RunKernel<Settings> = (
  operation: Operation<Settings>,
  bytes: Uint8Array,
  item: PlaneItem,
  withMap: boolean,
) => ItemResult;
