import type { MapType } from '@halogrid/imaging';
import type { ImageType } from '@halogrid/kernels';

/** The type of a dense result as files hold it: a band a channel. */
export function mapType({ sample, channels }: ImageType): MapType {
  return { sample, bands: channels.length };
}
