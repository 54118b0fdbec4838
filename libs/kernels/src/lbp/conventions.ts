import type { BorderMode } from '../kernel/border.ts';
import { type LbpLabels, lbpLabels, type NonUniform } from './labels.ts';
import { circle, type Offset, square } from './ring.ts';

/** The points on which LBP implementations differ. */
export interface LbpConvention {
  /** The neighbours of a pixel, bit 0 first. */
  neighbours(points: number, radius: number): readonly Offset[];
  /** True: a bit is 1 if the neighbour is greater than the pixel. False: also if both are equal. */
  readonly isStrict: boolean;
  /** The default rule for neighbours outside the image. */
  readonly border: BorderMode;
  /** The labels that it has; the first one is the default. */
  readonly labels: readonly LbpLabels[];
  readonly nonUniform: NonUniform;
  /** The allowed numbers of points for these labels, and the allowed radii for that number of points. */
  points(labels: LbpLabels): Range;
  radius(points: number): Range;
}

/** A set of allowed numbers, and its description. */
export interface Range {
  has(value: number): boolean;
  readonly words: string;
}

/** The largest radius. It limits how much is read around a tile. */
export const maxRadius = 16;
export const minPoints = 4;
export const maxPoints = 24;

const anyPoints = upTo(maxPoints);
const anyRadius: Range = { has: () => true, words: `a number above 0, at most ${maxRadius}` };
const wholeRadius: Range = { has: Number.isInteger, words: `a whole number from 1 to ${maxRadius}` };
const exactly = (only: number): Range => ({ has: (value) => value === only, words: String(only) });

function upTo(most: number): Range {
  return { has: (value) => value <= most, words: `a whole number from ${minPoints} to ${most}` };
}

/** Neighbours counter-clockwise, East first. */
const fromEast = (points: number, radius: number): Offset[] =>
  circle(points, radius, (angle) => [Math.cos(angle), -Math.sin(angle)]);

/** Neighbours clockwise, West first: the pixels that shifting the image by (R cos, R sin) brings to the centre. */
const fromWest = (points: number, radius: number): Offset[] =>
  circle(points, radius, (angle) => [-Math.cos(angle), -Math.sin(angle)]);

/** The 3x3 square of the first papers on LBP. */
const threeByThree = {
  isStrict: false,
  border: 'interior',
  labels: lbpLabels,
  nonUniform: 'last',
  points: () => exactly(8),
  radius: () => exactly(1),
} as const;

/**
 * Neighbours clockwise from the upper left or, if there are four, from the one above. The first one is the highest bit.
 */
const bobCircle = (points: number, radius: number): Offset[] => {
  const start = points === 4 ? -0.5 * Math.PI : -0.75 * Math.PI;
  return circle(points, radius, (angle) => [Math.cos(start + angle), Math.sin(start + angle)]).reverse();
};

const bobCircular: LbpConvention = {
  neighbours: bobCircle,
  isStrict: false,
  border: 'interior',
  labels: ['all', 'ror', 'uniform', 'nri-uniform'],
  nonUniform: 'first',
  points: (labels) =>
    labels === 'all' ? upTo(16) : { has: (value) => [4, 8, 16].includes(value), words: '4, 8 or 16' },
  radius: () => anyRadius,
};

/** The conventions by the name that `convention=` takes; docs/kernels/lbp.md gives the source of each. */
export const lbpConventions = {
  'nw-cw-msb': { ...threeByThree, neighbours: () => square(8, 1).reverse() },
  'nw-cw-lsb': { ...threeByThree, neighbours: () => square(8, 1) },
  'scikit-image': {
    neighbours: fromEast,
    isStrict: false,
    border: 'zero',
    labels: lbpLabels,
    nonUniform: 'last',
    points: () => anyPoints,
    radius: () => anyRadius,
  },
  opencv: {
    neighbours: fromEast,
    isStrict: false,
    border: 'interior',
    labels: ['all'],
    nonUniform: 'last',
    points: () => anyPoints,
    radius: () => wholeRadius,
  },
  // By default a square, for numbers of points that form one.
  bob: {
    ...bobCircular,
    neighbours: (points, radius) =>
      points === 4 || points === 8 ? square(points, radius).reverse() : bobCircle(points, radius),
    radius: (points) => (points === 4 || points === 8 ? wholeRadius : anyRadius),
  },
  'bob-circular': bobCircular,
  mahotas: {
    neighbours: fromWest,
    isStrict: true,
    border: 'zero',
    labels: ['ror'],
    nonUniform: 'last',
    points: () => anyPoints,
    radius: () => anyRadius,
  },
} satisfies Record<string, LbpConvention>;

export type LbpConventionName = keyof typeof lbpConventions;

export const lbpConventionNames = Object.keys(lbpConventions) as readonly LbpConventionName[];
