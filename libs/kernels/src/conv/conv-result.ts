import { createSamples, type MapSamples } from '@halogrid/geometry';
import type { Operation } from '../kernel/operation.ts';
import type { ItemResult, PlaneItem } from '../kernel/plane-item.ts';
import type { ConvSettings } from './conv.ts';

/** The result of one item, while it is computed. */
export interface ConvResult {
  readonly channels: number;
  /** Bands of `out` without gaps; undefined if they are not wanted. */
  readonly samples: MapSamples | undefined;
  /** The counts of every channel, one channel after another. */
  readonly bins: Uint32Array<ArrayBuffer>;
}

/** A result of zeros. */
export function createConvResult(
  { settings, output: { sample, channels } }: Operation<ConvSettings>,
  { out }: PlaneItem,
  withMap: boolean,
): ConvResult {
  return {
    channels: channels.length,
    samples: withMap ? createSamples(sample, out.width * out.height * channels.length) : undefined,
    bins: new Uint32Array(settings.binning.bins * channels.length),
  };
}

/** The result in the form that every device returns. */
export function finishConvResult({ samples, bins }: ConvResult, { out, valid }: PlaneItem): ItemResult {
  const counted = valid.width * valid.height;
  if (!samples) return { counted, bins, map: undefined };
  const stride = out.width * samples.BYTES_PER_ELEMENT;
  return { counted, bins, map: { bytes: new Uint8Array(samples.buffer), stride, bandBytes: stride * out.height } };
}
