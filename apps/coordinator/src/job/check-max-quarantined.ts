import type { MaxQuarantined } from '@halogrid/proto';
import { Refusal, refuseValue } from './refusal.ts';

/** Throws Refusal for a limit that is none. */
export function checkMaxQuarantined(max: MaxQuarantined | undefined): void {
  if (!max) return;
  const { limit } = max;
  if (!limit) throw new Refusal('invalid', 'Expected inputs or percent in max_quarantined but received neither');
  const { $case, value } = limit;
  if ($case === 'percent' && !(value >= 0 && value <= 100)) refuseValue('max_quarantined.percent', value, '0 to 100');
}
