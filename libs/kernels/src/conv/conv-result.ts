import type { Parameters } from '../kernel.ts';
import type { ItemResult, PlaneItem } from '../plane-item.ts';
import { conv } from './conv.ts';

/** Samples of a dense result of conv. */
export type ConvSamples = Uint8Array<ArrayBuffer> | Int16Array<ArrayBuffer> | Float32Array<ArrayBuffer>;

/** The result of one item, while it is computed. */
export interface ConvResult {
  readonly channels: number;
  /** Bands of `out` without gaps; absent where they are not wanted. */
  readonly samples: ConvSamples | undefined;
  /** 256 a channel for u8, otherwise none. */
  readonly bins: Uint32Array<ArrayBuffer>;
}

/** A result of zeros. */
export function createConvResult(parameters: Parameters, { out }: PlaneItem, withMap: boolean): ConvResult {
  const { sample, channels } = conv.output(parameters);
  const length = withMap ? out.width * out.height * channels.length : 0;
  return {
    channels: channels.length,
    samples: withMap ? samplesFor(sample, length) : undefined,
    bins: new Uint32Array(conv.bins(parameters) * channels.length),
  };
}

/** The result as every device gives it. */
export function finishConvResult({ samples, bins }: ConvResult, { out, valid }: PlaneItem): ItemResult {
  const counted = valid.width * valid.height;
  if (!samples) return { counted, bins, map: undefined };
  const stride = out.width * samples.BYTES_PER_ELEMENT;
  return { counted, bins, map: { bytes: new Uint8Array(samples.buffer), stride, bandBytes: stride * out.height } };
}

function samplesFor(sample: string, length: number): ConvSamples {
  switch (sample) {
    case 'u8':
      return new Uint8Array(length);
    case 'i16':
      return new Int16Array(length);
    default:
      return new Float32Array(length);
  }
}
