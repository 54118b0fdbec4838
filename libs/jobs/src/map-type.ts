import type { ImageType } from '@halogrid/geometry';
import type { MapType } from '@halogrid/results';

/** The type of a dense result as files hold it: a band a channel. */
export function mapType({ sample, channels }: ImageType): MapType {
  return { sample, bands: channels.length };
}
