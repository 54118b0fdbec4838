import type { JobSpec } from '@halogrid/proto';
import { CaptureOptionsError, checkCaptureOptions } from '@halogrid/sources/captured';
import { Refusal } from '../refusal.ts';

/** Checks what a specification says of capture times; undefined where that is nothing. Throws Refusal. */
export function checkCaptured({ captured, checksum }: Pick<JobSpec, 'captured' | 'checksum'>): JobSpec['captured'] {
  if (!captured || (captured.from === '' && captured.zone === '')) return undefined;
  try {
    checkCaptureOptions(captured, checksum === true);
  } catch (error) {
    throw error instanceof CaptureOptionsError ? new Refusal('invalid', error.sentence) : error;
  }
  return { from: captured.from, zone: captured.zone };
}
