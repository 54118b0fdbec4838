import { ParameterError } from '../kernel/parameter-error.ts';
import { isSide, largestSide, type Matrix, smallestSide } from './matrix.ts';

const sobelX = [
  [-1, 0, 1],
  [-2, 0, 2],
  [-1, 0, 1],
];
const prewittX = [
  [-1, 0, 1],
  [-1, 0, 1],
  [-1, 0, 1],
];

/** The matrices by name; two if the result is the magnitude of two directions. */
const fixed: Readonly<Record<string, readonly Matrix[]>> = {
  'prewitt-x': [prewittX],
  'prewitt-y': [transposed(prewittX)],
  prewitt: [prewittX, transposed(prewittX)],
  'sobel-x': [sobelX],
  'sobel-y': [transposed(sobelX)],
  sobel: [sobelX, transposed(sobelX)],
  'log-5': [
    [
      [0, 0, -1, 0, 0],
      [0, -1, -2, -1, 0],
      [-1, -2, 16, -2, -1],
      [0, -1, -2, -1, 0],
      [0, 0, -1, 0, 0],
    ],
  ],
  'sharpen-3': [
    [
      [0, -1, 0],
      [-1, 5, -1],
      [0, -1, 0],
    ],
  ],
};

/** A named kernel. */
export type NamedKernel =
  | { kind: 'fixed'; matrices: readonly Matrix[] }
  | { kind: 'gaussian'; side: number }
  | { kind: 'box'; side: number };

const sides = Array.from({ length: largestSide }, (_, i) => i + 1).filter(isSide);

/** The kernel of a name such as `sobel-x` or `gaussian-5`. Throws ParameterError if there is no such kernel. */
export function parseNamedKernel(name: string): NamedKernel {
  if (Object.hasOwn(fixed, name)) return { kind: 'fixed', matrices: fixed[name]! };
  const [, kind, digits] = /^(gaussian|box)-([1-9]\d?)$/.exec(name) ?? [];
  const side = Number(digits);
  if (kind && isSide(side)) return { kind: kind as 'gaussian' | 'box', side };
  throw new ParameterError(
    'conv:kernel',
    name,
    `one of ${Object.keys(fixed).join(', ')}, or gaussian-N or box-N with odd N from ${smallestSide} to ${largestSide}`,
    [...Object.keys(fixed), ...sides.flatMap((side) => [`gaussian-${side}`, `box-${side}`])],
  );
}

/** The standard deviation that OpenCV derives from the side of a Gaussian. */
export const defaultSigma = (side: number): number => 0.3 * ((side - 1) * 0.5 - 1) + 0.8;

/** A one-dimensional Gaussian whose entries add up to 1. */
export function gaussian(side: number, sigma: number): number[] {
  const entries = Array.from({ length: side }, (_, i) => Math.exp(-((i - (side - 1) / 2) ** 2) / (2 * sigma ** 2)));
  const sum = entries.reduce((total, entry) => total + entry, 0);
  return entries.map((entry) => entry / sum);
}

function transposed(matrix: Matrix): Matrix {
  return matrix.map((_, i) => matrix.map((row) => row[i]!));
}
