import type { Rect } from '../input/rect.ts';
import type { Size } from './size.ts';

/** A preview's longer side is at most this: it fills a browser window, and one of any image weighs 1 MB at most. */
export const previewSidePx = 1024;

/** Every how many pixels, in x and in y, a preview takes one. It depends on the image alone, never on its tiles. */
export function previewStride(size: Size): number {
  return Math.ceil(Math.max(size.width, size.height) / previewSidePx);
}

/** The preview's pixels that lie in `rect` of the image, in the preview's coordinates; may have no width or height. */
export function previewRect(rect: Rect, size: Size): Rect {
  const stride = previewStride(size);
  const x = Math.ceil(rect.x / stride);
  const y = Math.ceil(rect.y / stride);
  return {
    x,
    y,
    width: Math.ceil((rect.x + rect.width) / stride) - x,
    height: Math.ceil((rect.y + rect.height) / stride) - y,
  };
}

/** Takes the preview's pixels out of the codes of `rect`, whose rows are `strideBytes` apart; returns rows without gaps. */
export function samplePreview(codes: Uint8Array, strideBytes: number, rect: Rect, size: Size): Uint8Array {
  const step = previewStride(size);
  const sampled = previewRect(rect, size);
  const out = new Uint8Array(sampled.width * sampled.height);
  let to = 0;
  for (let y = sampled.y; y < sampled.y + sampled.height; y++) {
    let from = (y * step - rect.y) * strideBytes + (sampled.x * step - rect.x);
    for (let x = 0; x < sampled.width; x++, from += step) out[to++] = codes[from]!;
  }
  return out;
}
