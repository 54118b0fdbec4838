import type { JobSpec } from '@halogrid/proto';
import { allowedBands, allowedScale, areBands, bandsText, isScale, scaleText } from '@halogrid/proto/sample-options';
import { refuseValue } from '../refusal.ts';

/** The checked bands of a specification; undefined if it has none. Throws Refusal. */
export function checkedBand({ band }: Pick<JobSpec, 'band'>): JobSpec['band'] {
  if (!band) return undefined;
  const { numbers, all } = band;
  if (!areBands(numbers)) refuseValue('band.numbers', bandsText({ numbers }) || 'none', allowedBands);
  return all ? { numbers, all } : { numbers };
}

/** The scale with its bits; undefined if the specification has none. Throws Refusal. */
export function checkedScale({ scale }: Pick<JobSpec, 'scale'>): JobSpec['scale'] {
  if (!scale) return undefined;
  const { min, max, bits } = scale;
  const full = { min, max, bits: bits || 8 };
  return isScale(full) ? full : refuseValue('scale', scaleText(full), allowedScale);
}
