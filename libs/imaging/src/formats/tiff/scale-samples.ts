import type { Pixels } from '../../planes/plane-target.ts';
import type { SampleScale } from '../../planes/read-options.ts';

/** Samples as a TIFF stores them. */
export type Samples = Pixels | Int8Array | Int16Array | Int32Array | Uint32Array | Float32Array | Float64Array;

/**
 * Samples as pixels: `min` becomes 0, `max` becomes the largest pixel, others lie between them, rounded half up, and
 * those beyond are clipped. What is not a number becomes 0.
 */
export function scaleSamples(samples: Samples, { min, max, bits }: SampleScale): Pixels {
  const most = 2 ** bits - 1;
  const range = max - min;
  const pixels = new (bits === 8 ? Uint8Array : Uint16Array)(samples.length);
  for (let i = 0; i < samples.length; i++) {
    const value = Math.floor(((samples[i]! - min) * most) / range + 0.5);
    // NaN is not above 0.
    pixels[i] = value > 0 ? Math.min(value, most) : 0;
  }
  return pixels;
}
