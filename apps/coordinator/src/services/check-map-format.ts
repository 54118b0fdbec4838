import { pngCanHold } from '@halogrid/imaging';
import type { ImageType } from '@halogrid/kernels';
import { mapFormats } from '@halogrid/proto';
import { mapType } from '../output/map-type.ts';
import { refuseValue } from './refusal.ts';

/** Throws Refusal for a format of dense results that there is not, or that cannot hold what the pipeline gives. */
export function checkMapFormat(format: string, output: ImageType): void {
  if (!mapFormats.includes(format)) refuseValue('map_format', format, `one of ${mapFormats.join(', ')}`);
  const { sample, bands } = mapType(output);
  if (format !== 'png' || pngCanHold({ sample, bands })) return;
  const held = bands === 1 ? `a band of ${sample}` : `${bands} bands of ${sample}`;
  refuseValue('map_format', format, `tiff or none, because a PNG cannot hold ${held},`);
}
