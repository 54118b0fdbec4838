import type { Pipeline } from '@halogrid/kernels';
import { mapFormats } from '@halogrid/proto';
import { whyNotHeld } from '@halogrid/results';
import { mapType } from '../output/map-type.ts';
import { refuseValue } from './refusal.ts';

/** Throws Refusal for a format of dense results that there is not, or that cannot hold what the pipeline gives. */
export function checkMapFormat(format: string, { output, bins }: Pick<Pipeline, 'output' | 'bins'>): void {
  if (!mapFormats.includes(format)) refuseValue('map_format', format, `one of ${mapFormats.join(', ')}`);
  const why = whyNotHeld(format, mapType(output), bins);
  if (why) refuseValue('map_format', format, `tiff, zarr or none, because ${why},`);
}
