import type { SampleType } from '@halogrid/geometry';
import type { Parameters } from '../kernel/kernel.ts';
import { ParameterError } from '../kernel/parameter-error.ts';
import {
  type LbpConvention,
  type LbpConventionName,
  lbpConventionNames,
  lbpConventions,
  maxPoints,
  maxRadius,
  minPoints,
} from './conventions.ts';
import { type LbpLabels, labelCount, lbpLabels } from './labels.ts';
import type { Offset } from './ring.ts';

const names = ['convention', 'points', 'radius', 'labels'];

/**
 * All parameters of lbp in canonical form. Throws ParameterError for values that no convention has, or that this one
 * lacks.
 */
export function completeLbp(given: Readonly<Record<string, string>>): Parameters {
  for (const name of Object.keys(given)) {
    if (!names.includes(name)) throw new ParameterError('a parameter of lbp', name, names);
  }
  const points = parsePoints(given.points ?? '8');
  const radius = parseRadius(given.radius ?? '1');
  const convention = parseConvention(given.convention ?? (points === 8 && radius === 1 ? 'nw-cw-msb' : 'scikit-image'));
  const rules: LbpConvention = lbpConventions[convention];
  const labels = parseLabels(given.labels ?? rules.labels[0]!);

  const check = (isAllowed: boolean, name: string, value: string | number, words: string): void => {
    if (!isAllowed) throw new ParameterError(`lbp:${name}`, value, `${words} with convention=${convention}`);
  };
  check(rules.labels.includes(labels), 'labels', labels, oneOf(rules.labels));
  const [allowedPoints, allowedRadius] = [rules.points(labels), rules.radius(points)];
  check(allowedPoints.has(points), 'points', points, allowedPoints.words);
  check(allowedRadius.has(radius), 'radius', radius, allowedRadius.words);
  return { convention, points: String(points), radius: String(radius), labels };
}

function parsePoints(text: string): number {
  const points = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (points >= minPoints && points <= maxPoints) return points;
  throw new ParameterError('lbp:points', text, `a whole number from ${minPoints} to ${maxPoints}`);
}

function parseRadius(text: string): number {
  const radius = /^\d{1,4}(\.\d{1,5})?$/.test(text) ? Number(text) : 0;
  if (radius > 0 && radius <= maxRadius) return radius;
  throw new ParameterError('lbp:radius', text, `a number above 0, at most ${maxRadius}, of at most five decimals,`);
}

function parseConvention(text: string): LbpConventionName {
  const convention = lbpConventionNames.find((name) => name === text);
  if (!convention) throw new ParameterError('lbp:convention', text, lbpConventionNames);
  return convention;
}

function parseLabels(text: string): LbpLabels {
  const labels = lbpLabels.find((name) => name === text);
  if (!labels) throw new ParameterError('lbp:labels', text, lbpLabels);
  return labels;
}

const oneOf = (words: readonly string[]): string => (words.length === 1 ? words[0]! : `one of ${words.join(', ')}`);

/** The settings that canonical parameters stand for. */
export interface LbpRing extends Pick<LbpConvention, 'isStrict' | 'nonUniform'> {
  readonly convention: LbpConventionName;
  readonly labels: LbpLabels;
  readonly points: number;
  /** The neighbours of a pixel, bit 0 first. */
  readonly neighbours: readonly Offset[];
  /** Pixels read around a pixel, on each side. */
  readonly halo: number;
  readonly sample: SampleType;
  /** 0 if there is no histogram. */
  readonly bins: number;
  /** Set for the 3x3 square, which has faster programs; `isMsb`: its first pixel is the highest bit. */
  readonly square?: { isMsb: boolean };
}

/** The settings that complete parameters stand for. */
export function ringOf(parameters: Parameters): LbpRing {
  const convention = parameters.convention as LbpConventionName;
  const labels = parameters.labels as LbpLabels;
  const [points, radius] = [Number(parameters.points), Number(parameters.radius)];
  const { neighbours, isStrict, nonUniform }: LbpConvention = lbpConventions[convention];
  const count = labelCount(labels, points);
  const isSquare = convention === 'nw-cw-msb' || convention === 'nw-cw-lsb' || convention === 'bob';
  return {
    convention,
    isStrict,
    nonUniform,
    labels,
    points,
    neighbours: neighbours(points, radius),
    halo: Math.ceil(radius),
    sample: labels === 'var' ? 'f32' : count <= 2 ** 8 ? 'u8' : count <= 2 ** 16 ? 'u16' : 'u32',
    bins: count <= 2 ** 16 ? count : 0,
    square: isSquare && points === 8 && radius === 1 ? { isMsb: convention !== 'nw-cw-lsb' } : undefined,
  };
}
