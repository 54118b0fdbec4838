import type { ImageType } from '@halogrid/geometry';
import type { BorderMode } from './border.ts';

/** Every parameter of a kernel by name, as text, defaults filled in. */
export type Parameters = Readonly<Record<string, string>>;

/** What the catalogue says of a kernel: enough to plan, check and merge, and nothing of a GPU. */
export interface KernelDefinition {
  readonly name: string;
  /** One sentence for people. */
  readonly summary: string;
  /** Fills in defaults and puts values in canonical form. Throws ParameterError for an unknown name or a wrong value. */
  parseParameters(given: Record<string, string>): Parameters;
  /** Pixels read around a pixel, on each side. */
  halo(parameters: Parameters): number;
  /** The border rule where none is asked for. */
  defaultBorder(parameters: Parameters): BorderMode;
  /** Channels of the image it takes: `gray` or `rgb`. */
  input(parameters: Parameters): readonly string[];
  /** What its dense result is made of; a histogram has the same channels. */
  output(parameters: Parameters): ImageType;
  /** Bins a channel; 0 where the result has no histogram. */
  bins(parameters: Parameters): number;
  /** An image with a shorter side is refused. */
  minSide(parameters: Parameters): number;
  /** The tag that results carry, so that histograms of different conventions are never mixed up. */
  convention(parameters: Parameters): string;
}
