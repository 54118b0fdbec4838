import { createSamples } from '@halogrid/geometry';
import { copyBorderedRows, createPixels, storedPixels } from '../kernel/bordered-rows.ts';
import type { Operation } from '../kernel/operation.ts';
import type { ItemResult, PlaneItem } from '../kernel/plane-item.ts';
import { labelOf } from './labels.ts';
import type { LbpRing } from './parameters.ts';
import { tapsOf, unit } from './taps.ts';

/**
 * The reference of square-vector.wgsl, square-word.wgsl and ring.wgsl: labels, or variances, and the histogram of one
 * item.
 */
export function lbpReference(
  { settings, border, reads = 'u8' }: Operation<LbpRing>,
  bytes: Uint8Array,
  item: PlaneItem,
  withMap: boolean,
): ItemResult {
  const { points, labels, nonUniform, isStrict, neighbours, halo, sample, bins: binCount } = settings;
  const { out, valid } = item;
  const stride = valid.width + 2 * halo + 1;
  const rect = { x: valid.x - halo, y: valid.y - halo, width: stride, height: valid.height + 2 * halo + 1 };
  const { pixels, plane: stored } = storedPixels(bytes, item, reads);
  const plane = createPixels(reads, stride * rect.height);
  copyBorderedRows(pixels, stored, border, rect, plane, 0, stride);

  const { steps, weights } = tapsOf(neighbours, stride);
  const map = withMap ? createSamples(sample, out.width * out.height) : undefined;
  const bins = new Uint32Array(binCount);
  const ring = new Float64Array(points);
  for (let y = 0; y < valid.height; y++) {
    const row = (valid.y - out.y + y) * out.width + valid.x - out.x;
    for (let x = 0; x < valid.width; x++) {
      const at = (y + halo) * stride + x + halo;
      const centre = plane[at]! * unit;
      let code = 0;
      for (let i = 0, k = 0; i < points; i++, k += 4) {
        const neighbour =
          weights[k]! * plane[at + steps[k]!]! +
          weights[k + 1]! * plane[at + steps[k + 1]!]! +
          weights[k + 2]! * plane[at + steps[k + 2]!]! +
          weights[k + 3]! * plane[at + steps[k + 3]!]!;
        ring[i] = neighbour;
        if (neighbour > centre || (neighbour === centre && !isStrict)) code |= 1 << i;
      }
      if (labels === 'var') {
        if (map) map[row + x] = varianceOf(ring);
        continue;
      }
      const label = labelOf(code, points, labels, nonUniform);
      if (binCount > 0) bins[label]!++;
      if (map) map[row + x] = label;
    }
  }
  return {
    counted: valid.width * valid.height,
    bins,
    map: map && {
      bytes: new Uint8Array(map.buffer),
      stride: out.width * map.BYTES_PER_ELEMENT,
      bandBytes: map.byteLength,
    },
  };
}

/**
 * Biased variance of neighbours. They are in units of weight; the variance is in pixels squared, NaN if all are equal.
 */
function varianceOf(ring: Float64Array): number {
  const base = ring[0]!;
  let sum = 0;
  let isFlat = true;
  for (const value of ring) {
    sum += value - base;
    if (value !== base) isFlat = false;
  }
  if (isFlat) return Number.NaN;
  const mean = sum / ring.length;
  let squares = 0;
  for (const value of ring) squares += ((value - base - mean) / unit) ** 2;
  return squares / ring.length;
}
