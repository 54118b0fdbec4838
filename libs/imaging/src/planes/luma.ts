import type { Pixels } from './pixels.ts';

/**
 * BT.601 luma of interleaved RGB of 8 or 16 bits, exactly (19595 R + 38470 G + 7471 B + 32768) >>> 16; the weights add up to
 * 65536, so gray stays what it is, and sums of 16-bit values are below 2^32. Writes `pixels` of `target` from `targetStart`
 * on, from the 3 * `pixels` values of `rgb` from `rgbStart`.
 */
export function writeLuma(rgb: Pixels, rgbStart: number, target: Pixels, targetStart: number, pixels: number): void {
  for (let i = 0, from = rgbStart, to = targetStart; i < pixels; i++, from += 3, to++) {
    target[to] = (19595 * rgb[from]! + 38470 * rgb[from + 1]! + 7471 * rgb[from + 2]! + 32768) >> 16;
  }
}
