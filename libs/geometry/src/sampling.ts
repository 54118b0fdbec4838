/** Every `step`-th pixel of a plane in both directions, from (x, y) on: `height` rows of `width` pixels. */
export interface Sampling {
  x: number;
  y: number;
  step: number;
  width: number;
  height: number;
}

/** Samples in bands: bytes from row to row, and from band to band. */
export interface PlanarLayout {
  bytes: Uint8Array;
  strideBytes: number;
  bandBytes: number;
}

/** The sampled pixels of `bands` bands with samples of `unit` bytes, in rows and bands without gaps. */
export function takeSamples(
  { bytes, strideBytes, bandBytes }: PlanarLayout,
  { x, y, step, width, height }: Sampling,
  unit: number,
  bands: number,
): Uint8Array<ArrayBuffer> {
  const sampled = new Uint8Array(width * unit * height * bands);
  let to = 0;
  for (let band = 0; band < bands; band++) {
    for (let row = 0; row < height; row++) {
      const from = band * bandBytes + (y + row * step) * strideBytes + x * unit;
      // Most results have one byte per pixel. The inner loop would take three times as long for these (measured).
      if (unit === 1) for (let column = 0; column < width; column++) sampled[to++] = bytes[from + column * step]!;
      else {
        for (let column = 0; column < width; column++) {
          for (let i = 0; i < unit; i++) sampled[to++] = bytes[from + column * step * unit + i]!;
        }
      }
    }
  }
  return sampled;
}
