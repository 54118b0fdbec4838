import type { Rect, Sampling, Size } from '@halogrid/geometry';

/** The most pixels of a picture's longer side: it fills a browser window, and no picture has more than a few MB. */
export const previewSidePx = 1024;

/** Pixels between the panels of a mosaic. */
export const mosaicGapPx = 4;

/**
 * Panels in a row of a mosaic of bands, and as many rows at most: 2 for up to four bands. One band is a gray picture
 * instead, and three are red, green and blue.
 */
export const panelsAcross = (bands: number): number => Math.ceil(Math.sqrt(bands));

/** Whether the bands are panels of a mosaic. */
export const isMosaic = (bands: number): boolean => bands !== 1 && bands !== 3;

/**
 * A preview takes every n-th pixel in x and in y. This is n, which keeps the picture of all bands within
 * `previewSidePx` a side. It depends only on the size of the image and the number of bands, never on tiles.
 */
export function previewStride(size: Size, bands: number): number {
  const across = isMosaic(bands) ? panelsAcross(bands) : 1;
  const sidePx = Math.max(1, Math.floor((previewSidePx - (across - 1) * mosaicGapPx) / across));
  return Math.ceil(Math.max(size.width, size.height) / sidePx);
}

/** The preview's pixels that lie in `rect` of the image, in the preview's coordinates. Width or height may be 0. */
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

/** The same pixels in coordinates of `rect`: every `step`-th pixel from (x, y) on. */
export function previewSampling(rect: Rect, size: Size, bands: number): Sampling {
  const step = previewStride(size, bands);
  const { x, y, width, height } = previewRect(rect, size, bands);
  return { x: x * step - rect.x, y: y * step - rect.y, step, width, height };
}
