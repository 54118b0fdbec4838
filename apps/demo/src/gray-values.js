/** @import { Samples } from '@halogrid/kernels/api' */

/**
 * Samples as opaque gray: 0 is black, and `most` is white. NaN is black.
 *
 * @param {Samples} samples
 * @param {number} most above 0
 */
export function grayValues(samples, most) {
  const pixels = new Uint8ClampedArray(4 * samples.length);
  const scale = 255 / most;
  for (let i = 0, to = 0; i < samples.length; i++, to += 4) {
    const gray = /** @type {number} */ (samples[i]) * scale;
    pixels[to] = gray;
    pixels[to + 1] = gray;
    pixels[to + 2] = gray;
    pixels[to + 3] = 255;
  }
  return pixels;
}

/**
 * The value that is white: the last bin, or the greatest sample for results without bins.
 *
 * @param {Samples} samples
 * @param {number} bins
 */
export function whiteOf(samples, bins) {
  if (bins > 1) return bins - 1;
  let most = 0;
  for (const sample of samples) if (sample > most) most = sample;
  return most || 1;
}
