import type { ImageType, PixelType } from '@halogrid/geometry';
import { type BorderMode, parseBorderMode } from './border.ts';
import type { KernelDefinition, Parameters } from './kernel.ts';
import type { ItemResult, PlaneItem } from './plane-item.ts';

/** A kernel as it is asked for: what is missing takes its default. */
export interface AskedOperation {
  readonly kernel: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly border?: string;
}

/** One kernel with its parameters and its border rule, all of them, and what follows from them. */
export interface Operation<Settings = unknown> {
  readonly kernel: string;
  readonly parameters: Parameters;
  readonly border: BorderMode;
  /** What the parameters mean, as the kernel's own programs read it. */
  readonly settings: Settings;
  /** Pixels read around a pixel, on each side. */
  readonly halo: number;
  /** What its dense result is made of. */
  readonly output: ImageType;
  /** Type of the pixels it reads; u8 where it is absent. */
  readonly reads?: PixelType;
}

/** Throws ParameterError for a wrong parameter or border. */
export function createOperation<Settings>(
  { kernel, parameters: given, border }: AskedOperation,
  definition: KernelDefinition<Settings>,
): Operation<Settings> {
  const parameters = definition.complete(given);
  const settings = definition.parse(parameters);
  return {
    kernel,
    parameters,
    border: border ? parseBorderMode(border) : definition.defaultBorder(settings),
    settings,
    halo: definition.halo(settings),
    output: definition.output(settings),
  };
}

/** The operation as the specification of a job has it: what createOperation makes the same operation of. */
export const specifiedOperation = ({ kernel, parameters, border }: Operation) => ({
  kernel,
  parameters: { ...parameters },
  border,
});

/** Equal for equal operations, e.g. `lbp:convention=nw-cw-msb border=interior`. */
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
