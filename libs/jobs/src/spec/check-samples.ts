import type { JobSpec } from '@halogrid/proto';
import { allowedScale, isScale, maxBand, scaleText } from '@halogrid/proto/sample-options';
import { refuseValue } from '../refusal.ts';

/** The checked band of a specification; undefined if it has none. Throws Refusal. */
export function checkedBand({ band }: Pick<JobSpec, 'band'>): JobSpec['band'] {
  if (!band) return undefined;
  const { number } = band;
  if (number < 1 || number > maxBand) refuseValue('band.number', number, `1 to ${maxBand}`);
  return { number };
}

/** The scale with its bits; undefined if the specification has none. Throws Refusal. */
export function checkedScale({ scale }: Pick<JobSpec, 'scale'>): JobSpec['scale'] {
  if (!scale) return undefined;
  const { min, max, bits } = scale;
  const full = { min, max, bits: bits || 8 };
  return isScale(full) ? full : refuseValue('scale', scaleText(full), allowedScale);
}
