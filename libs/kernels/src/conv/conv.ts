import { gray, type PixelType, rgb, type SampleType } from '@halogrid/geometry';
import type { KernelDefinition, Parameters } from '../kernel/kernel.ts';
import { ParameterError } from '../kernel/parameter-error.ts';
import { type Arithmetic, arithmeticsOf, checkExact, toleranceOf } from './arithmetic.ts';
import { binningOf, type ConvBinning } from './conv-binning.ts';
import { parseMatrix } from './matrix.ts';
import { defaultSigma, parseNamedKernel } from './named.ts';

const names = ['kernel', 'matrix', 'sigma', 'channels', 'as'];
/** Types of results. */
export const sampleTypes = ['f32', 'u8', 'i16'] as const satisfies readonly SampleType[];
const [smallestSigma, largestSigma] = [0.1, 100];

/** The settings of complete parameters. */
export interface ConvSettings {
  readonly channels: readonly string[];
  readonly as: (typeof sampleTypes)[number];
  /** How to compute it over pixels of each type. */
  readonly arithmetic: Readonly<Record<PixelType, Arithmetic>>;
  readonly binning: ConvBinning;
}

/**
 * Convolution of each channel with a square matrix of odd side: the sum over i, j of matrix(i, j) times the pixel at
 * (row - i, column - j), i and j counted from the matrix's centre. `as=u8` and `as=i16` round it exactly, see
 * arithmetic.ts.
 */
export const conv: KernelDefinition<ConvSettings> = {
  summary: 'Convolution with a named kernel or any matrix of odd side 3 to 31',
  example: { kernel: 'sobel-x' },

  complete(given) {
    for (const name of Object.keys(given)) {
      if (!names.includes(name)) throw new ParameterError('a parameter of conv', name, names);
    }
    const { kernel, matrix } = given;
    if (kernel !== undefined && matrix !== undefined) {
      throw new ParameterError('conv', `kernel=${kernel} and a matrix`, 'either kernel or matrix');
    }
    if (kernel === undefined && matrix === undefined) {
      throw new ParameterError('conv', 'neither', `kernel, such as kernel=sobel-x, or matrix`);
    }
    const channels = choose('channels', given.channels ?? 'gray', ['gray', 'rgb']);
    const as = choose('as', given.as ?? 'f32', sampleTypes);
    const parameters: Parameters =
      matrix === undefined
        ? { kernel: kernel!, ...sigmaOf(kernel!, given.sigma), channels, as }
        : { matrix: JSON.stringify(parseMatrix(matrix)), ...sigmaOf(undefined, given.sigma), channels, as };
    checkExact(parameters);
    return parameters;
  },

  parse(parameters) {
    const as = sampleTypes.find((type) => type === parameters.as)!;
    const arithmetic = arithmeticsOf(parameters);
    const binning = binningOf(as, arithmetic.u8);
    return { channels: parameters.channels === 'rgb' ? rgb : gray, as, arithmetic, binning };
  },

  halo: (settings) => (sideOf(settings) - 1) / 2,
  defaultBorder: () => 'zero',
  input: ({ channels }) => channels,
  output: ({ as, channels }) => ({ sample: as, channels }),
  meaning: () => 'values',
  describe: ({ as, channels, binning: { first, width } }) => ({
    channels: channels.map((channel) => `the ${channel} channel convolved`),
    bin:
      as === 'u8'
        ? 'pixels whose result is rounded to i'
        : `pixels with results from ${first * width} + ${width} i up to, but without, that of bin i + 1; the first and the last bin also have what is beyond them`,
  }),
  tolerance: ({ arithmetic }, reads) => toleranceOf(arithmetic[reads], reads),
  bins: ({ binning }) => binning.bins,
  binning: ({ binning: { bins: _, ...binning } }) => binning,
  minSide: sideOf,
  convention: () => 'convolution',
};

/** Side of the matrix. */
function sideOf({ arithmetic }: ConvSettings): number {
  return arithmetic.u8.side;
}

function choose(name: string, value: string, allowed: readonly string[]): string {
  if (!allowed.includes(value)) throw new ParameterError(`conv:${name}`, value, allowed);
  return value;
}

/** The parameter sigma of a Gaussian in canonical form; other kernels have none. Also checks the kernel's name. */
function sigmaOf(kernel: string | undefined, given: string | undefined): { sigma?: string } {
  const named = kernel === undefined ? undefined : parseNamedKernel(kernel);
  if (named?.kind !== 'gaussian') {
    if (given !== undefined) throw new ParameterError('conv:sigma', given, 'no value but with kernel=gaussian-N');
    return {};
  }
  const sigma = given === undefined ? defaultSigma(named.side) : given.trim() === '' ? Number.NaN : Number(given);
  if (!(sigma >= smallestSigma && sigma <= largestSigma)) {
    throw new ParameterError('conv:sigma', given, `a number from ${smallestSigma} to ${largestSigma}`);
  }
  return { sigma: String(sigma) };
}
