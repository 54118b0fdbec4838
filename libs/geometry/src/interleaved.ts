/** Interleaved samples of 8 or 16 bits. */
type Interleaved = Uint8Array | Uint8ClampedArray | Uint16Array;

/**
 * BT.601 luma of interleaved RGB of 8 or 16 bits, exactly (19595 R + 38470 G + 7471 B + 32768) >>> 16. The weights add
 * up to 65536, so gray stays the same, and sums of 16-bit values are below 2^32. Writes `pixels` pixels of `target`
 * from `targetStart` on, read from `rgb` from `rgbStart` on; a pixel has `step` samples.
 */
export function writeLuma(
  rgb: Interleaved,
  rgbStart: number,
  target: Interleaved,
  targetStart: number,
  pixels: number,
  step = 3,
): void {
  for (let i = 0, from = rgbStart, to = targetStart; i < pixels; i++, from += step, to++) {
    target[to] = (19595 * rgb[from]! + 38470 * rgb[from + 1]! + 7471 * rgb[from + 2]! + 32768) >> 16;
  }
}

/** Writes red, green and blue as three planes, `planeStep` samples apart. The other parameters are as for writeLuma. */
export function splitRgb(
  rgb: Interleaved,
  rgbStart: number,
  target: Interleaved,
  targetStart: number,
  planeStep: number,
  pixels: number,
  step = 3,
): void {
  for (let i = 0, from = rgbStart, to = targetStart; i < pixels; i++, from += step, to++) {
    target[to] = rgb[from]!;
    target[to + planeStep] = rgb[from + 1]!;
    target[to + 2 * planeStep] = rgb[from + 2]!;
  }
}
