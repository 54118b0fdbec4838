import type { Rect, Sampling, Size } from '@halogrid/geometry';

/** A picture's longer side is at most this: it fills a browser window, and the picture of any image weighs few MB at most. */
export const previewSidePx = 1024;

/** Between the panels of a mosaic. */
export const mosaicGapPx = 4;

/** Whether the bands lie beside and below each other, two a row: one is a gray picture, and three are red, green and blue. */
export const isMosaic = (bands: number): boolean => bands !== 1 && bands !== 3;

/**
 * Every how many pixels, in x and in y, a preview takes one, so that the picture of all bands is at most `previewSidePx` a
 * side. It depends on the image and its number of bands alone, never on its tiles.
 */
export function previewStride(size: Size, bands: number): number {
  const sidePx = isMosaic(bands) ? (previewSidePx - mosaicGapPx) / 2 : previewSidePx;
  return Math.ceil(Math.max(size.width, size.height) / sidePx);
}

/** The preview's pixels that lie in `rect` of the image, in the preview's coordinates; may have no width or height. */
export function previewRect(rect: Rect, size: Size, bands: number): Rect {
  const stride = previewStride(size, bands);
  const x = Math.ceil(rect.x / stride);
  const y = Math.ceil(rect.y / stride);
  return {
    x,
    y,
    width: Math.ceil((rect.x + rect.width) / stride) - x,
    height: Math.ceil((rect.y + rect.height) / stride) - y,
  };
}

/** The same pixels by where they lie in `rect`: every `step`-th from (x, y) on. */
export function previewSampling(rect: Rect, size: Size, bands: number): Sampling {
  const step = previewStride(size, bands);
  const { x, y, width, height } = previewRect(rect, size, bands);
  return { x: x * step - rect.x, y: y * step - rect.y, step, width, height };
}
