import type { MapKind, MapType } from '@halogrid/imaging';
import type { ImageType, Pipeline } from '@halogrid/kernels';

/** The type of a dense result as files hold it: a band a channel. */
export function mapType({ sample, channels }: ImageType): MapType {
  return { sample, bands: channels.length };
}

/** Convolution gives values, and so does a result of real numbers; everything else is codes and labels. */
export function mapKind({ operations, output }: Pick<Pipeline, 'operations' | 'output'>): MapKind {
  return operations.at(-1)?.kernel === 'conv' || output.sample === 'f32' ? 'values' : 'labels';
}
