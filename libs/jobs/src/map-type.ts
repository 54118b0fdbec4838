import type { ImageType } from '@halogrid/geometry';
import type { MapType } from '@halogrid/results';

/** The sample type and the number of bands of a map: one band per channel of the pipeline's output. */
export function mapType({ sample, channels }: ImageType): MapType {
  return { sample, bands: channels.length };
}
