/**
 * BT.601 luma of interleaved 8-bit RGB, exactly (19595 R + 38470 G + 7471 B + 32768) >> 16; the weights add up to 65536, so
 * gray stays what it is. Writes `pixels` bytes of `target` from `targetStart`, from the 3 * `pixels` bytes of `rgb` from
 * `rgbStart`.
 */
export function writeLuma(
  rgb: Uint8Array,
  rgbStart: number,
  target: Uint8Array,
  targetStart: number,
  pixels: number,
): void {
  for (let i = 0, from = rgbStart, to = targetStart; i < pixels; i++, from += 3, to++) {
    target[to] = (19595 * rgb[from]! + 38470 * rgb[from + 1]! + 7471 * rgb[from + 2]! + 32768) >> 16;
  }
}
