import type { ImageType, PixelType } from '@halogrid/geometry';
import type { Binning } from './binning.ts';
import type { BorderMode } from './border.ts';
import type { Pairs } from './pairs.ts';

/** Every parameter of a kernel by name, as text, defaults filled in. */
export type Parameters = Readonly<Record<string, string>>;

/** The meaning of a result: names of patterns, which cannot be averaged, or values. */
export type Meaning = 'labels' | 'values';

/** A description of a result, for files that are read without the program. */
export interface ResultWords {
  /** A description of each channel, in the order of the output's. */
  readonly channels: readonly string[];
  /** A description of what bin i of a channel counts; absent if there is no histogram. */
  readonly bin?: string;
}

/** How far a device's float32 results may be from the reference's: `absolute` + `relative` times the reference's. */
export interface Tolerance {
  readonly relative: number;
  readonly absolute: number;
}

/**
 * The definition of a kernel in the catalogue: enough to plan, check and merge, without anything about GPUs. Its
 * settings are the meaning of its parameters: plain data, because a pipeline carries them to threads. Parameters are
 * parsed once for a pipeline.
 */
export interface KernelDefinition<Settings> {
  /** One sentence for people. */
  readonly summary: string;
  /** The initial values of a form, if not every parameter has a default. */
  readonly example?: Readonly<Record<string, string>>;
  /**
   * Fills in defaults and puts values in canonical form. Throws ParameterError for an unknown name or a wrong value.
   */
  complete(given: Readonly<Record<string, string>>): Parameters;
  /** The settings that complete parameters stand for. */
  parse(parameters: Parameters): Settings;
  /** Pixels read around a pixel, on each side. */
  halo(settings: Settings): number;
  /** The default border rule. */
  defaultBorder(settings: Settings): BorderMode;
  /** The channels that it reads of an image: `gray` or `rgb`. */
  input(settings: Settings): readonly string[];
  /** The type of its dense result; a histogram has the same channels. */
  output(settings: Settings): ImageType;
  meaning(settings: Settings): Meaning;
  /** A description of the channels and bins of its result. */
  describe(settings: Settings): ResultWords;
  /**
   * For f32 results that the definition does not fix to the bit. Without it, all devices equal the reference bit for
   * bit.
   */
  tolerance?(settings: Settings, reads: PixelType): Tolerance;
  /** Bins per channel; 0 if the result has no histogram. */
  bins(settings: Settings): number;
  /** The values that each bin counts, if results are values. Without it, bin b counts the result b. */
  binning?(settings: Settings): Binning;
  /** The pairs that results are. Without it, every channel counts the same pixels once. */
  pairs?(settings: Settings): Pairs;
  /** Images with a shorter side are refused. */
  minSide(settings: Settings): number;
  /** The tag that results carry, so that histograms of different conventions are never mixed up. */
  convention(settings: Settings): string;
}

/**
 * Kernel definitions by name. The settings of each come from its own `parse`, so other code need not know their type.
 */
export type Kernels = Readonly<Record<string, KernelDefinition<unknown>>>;
