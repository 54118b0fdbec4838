import type { Size } from '@halogrid/geometry';
import type { Pixels } from '../kernel/bordered-rows.ts';
import type { Pipeline } from '../pipeline/pipeline.ts';

/** An image of 8 or 16 bits: planes without gaps, one after another. */
export interface TestImage<P extends Pixels = Pixels> extends Size {
  pixels: P;
}

/** Bytes below `levels`, determined by a seed. */
export function noise(length: number, seed: number, levels = 256): Uint8Array {
  let state = seed | 1;
  return Uint8Array.from({ length }, () => {
    state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9;
    return ((state >>> 8) & 0xff) % levels;
  });
}

/** An image of noise. Few levels make ties, on which implementations differ. */
export function noiseImage(size: Size, seed: number, levels = 256, channels = 1): TestImage<Uint8Array> {
  return { ...size, pixels: noise(size.width * size.height * channels, seed, levels) };
}

/** The same in 16 bits: all values, or few from 0 to 65535. */
function deepNoiseImage(size: Size, seed: number, levels = 256, channels = 1): TestImage<Uint16Array> {
  const { pixels } = noiseImage(size, seed, levels, channels);
  if (levels < 256)
    return { ...size, pixels: Uint16Array.from(pixels, (v) => Math.round((v * 65_535) / (levels - 1 || 1))) };
  const low = noise(pixels.length, ~seed);
  return { ...size, pixels: Uint16Array.from(pixels, (v, i) => 256 * v + low[i]!) };
}

/** An image of noise with the pipeline's type of pixels and channels. */
export function noiseFor(pipeline: Pipeline, size: Size, seed: number, levels = 256): TestImage {
  const image = pipeline.pixel === 'u8' ? noiseImage : deepNoiseImage;
  return image(size, seed, levels, pipeline.input.length);
}
