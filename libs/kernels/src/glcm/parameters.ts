import type { Parameters } from '../kernel/kernel.ts';
import type { Pairs, Step } from '../kernel/pairs.ts';
import { ParameterError } from '../kernel/parameter-error.ts';

const names = ['levels', 'offsets', 'symmetric'];

const minLevels = 2;
const maxLevels = 64;
/** The farthest partner. */
const maxDistance = 64;
/** With 64 levels, these have 65,536 bins. */
const maxOffsets = 16;

/** Columns and rows to the next pixel at each angle, in degrees: 45 points right and down, as in scikit-image. */
const directions: ReadonlyMap<number, Step> = new Map(
  [
    [1, 0],
    [1, 1],
    [0, 1],
    [-1, 1],
    [-1, 0],
    [-1, -1],
    [0, -1],
    [1, -1],
  ].map(([x, y], i) => [45 * i, { x: x!, y: y! }]),
);

/** The settings that complete parameters stand for. */
export interface GlcmSettings extends Pairs {
  /** The offsets as text, e.g. `1@45`. */
  readonly offsets: readonly string[];
}

/** All parameters of glcm in canonical form. Throws ParameterError. */
export function completeGlcm(given: Readonly<Record<string, string>>): Parameters {
  for (const name of Object.keys(given)) {
    if (!names.includes(name)) throw new ParameterError('a parameter of glcm', name, names);
  }
  const { levels = '32', offsets = '1@0+1@45+1@90+1@135', symmetric = 'false' } = given;
  const count = /^\d{1,4}$/.test(levels) ? Number(levels) : 0;
  if (count < minLevels || count > maxLevels) {
    throw new ParameterError('glcm:levels', levels, `an integer from ${minLevels} to ${maxLevels}`);
  }
  if (symmetric !== 'true' && symmetric !== 'false') {
    throw new ParameterError('glcm:symmetric', symmetric, ['false', 'true']);
  }
  return { levels: String(count), offsets: completeOffsets(offsets).join('+'), symmetric };
}

function completeOffsets(text: string): string[] {
  const offsets = text.split('+').map(canonicalOffset);
  const isOnce = new Set(offsets).size === offsets.length;
  if (offsets.length <= maxOffsets && isOnce && offsets.every((offset) => offset !== undefined)) return offsets;
  const angles = [...directions.keys()].join(', ');
  throw new ParameterError(
    'glcm:offsets',
    text,
    `up to ${maxOffsets} different offsets DISTANCE@ANGLE joined by '+', as 1@0+1@45, ` +
      `with distances from 1 to ${maxDistance} pixels and the angles ${angles},`,
  );
}

function canonicalOffset(text: string): string | undefined {
  const [, distance, angle] = /^(\d{1,3})@(\d{1,3})$/.exec(text) ?? [];
  const isAllowed = Number(distance) >= 1 && Number(distance) <= maxDistance && directions.has(Number(angle));
  return isAllowed ? `${Number(distance)}@${Number(angle)}` : undefined;
}

/** The settings that complete parameters stand for. */
export function settingsOf({ levels, offsets, symmetric }: Parameters): GlcmSettings {
  const list = offsets!.split('+');
  return { levels: Number(levels), offsets: list, steps: list.map(stepOf), isSymmetric: symmetric === 'true' };
}

/** Sine and cosine times the distance, each rounded to the nearest integer. Neither is ever half an integer. */
function stepOf(offset: string): Step {
  const [distance, angle] = offset.split('@').map(Number) as [number, number];
  const { x, y } = directions.get(angle)!;
  const steps = x !== 0 && y !== 0 ? Math.round(distance * Math.SQRT1_2) : distance;
  return { x: x * steps, y: y * steps };
}
