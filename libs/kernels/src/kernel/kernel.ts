import type { ImageType, PixelType } from '@halogrid/geometry';
import type { Binning } from './binning.ts';
import type { BorderMode } from './border.ts';

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
 * What the catalogue says of a kernel: enough to plan, check and merge, and nothing of a GPU. Settings are what its
 * parameters mean: plain data, because a pipeline carries them to threads. They are parsed once for a pipeline.
 */
export interface KernelDefinition<Settings> {
  /** One sentence for people. */
  readonly summary: string;
  /** What a form begins with, where not every parameter has a default. */
  readonly example?: Readonly<Record<string, string>>;
  /**
   * Fills in defaults and puts values in canonical form. Throws ParameterError for an unknown name or a wrong value.
   */
  complete(given: Readonly<Record<string, string>>): Parameters;
  /** What complete parameters mean. */
  parse(parameters: Parameters): Settings;
  /** Pixels read around a pixel, on each side. */
  halo(settings: Settings): number;
  /** The border rule where none is asked for. */
  defaultBorder(settings: Settings): BorderMode;
  /** Channels of the image it takes: `gray` or `rgb`. */
  input(settings: Settings): readonly string[];
  /** What its dense result is made of; a histogram has the same channels. */
  output(settings: Settings): ImageType;
  meaning(settings: Settings): Meaning;
  /** What the channels and bins of its result are, for people. */
  describe(settings: Settings): ResultWords;
  /** For results of f32 that the definition leaves open. Without it every device gives the reference's, bit for bit. */
  tolerance?(settings: Settings, reads: PixelType): Tolerance;
  /** Bins a channel; 0 where the result has no histogram. */
  bins(settings: Settings): number;
  /** Which values each bin counts, where results are values. Without it bin b counts the result b. */
  binning?(settings: Settings): Binning;
  /** An image with a shorter side is refused. */
  minSide(settings: Settings): number;
  /** The tag that results carry, so that histograms of different conventions are never mixed up. */
  convention(settings: Settings): string;
}

/**
 * Definitions by their names. Each one's settings come from its own `parse`, so that nobody else need know what they
 * are.
 */
export type Kernels = Readonly<Record<string, KernelDefinition<unknown>>>;
