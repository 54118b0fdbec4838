import type { Size } from '@halogrid/geometry';
import type { CopyRect } from '@halogrid/kernels';

/**
 * The pixel, of `fullSide` in a row, that has the centre of pixel `at` of `side` in the row of a smaller level, which
 * shows the same: floor((2 at + 1) fullSide / (2 side)). A centre between two pixels is in the second one. Exact for
 * products up to 2^53.
 */
export const nearestPixel = (at: number, side: number, fullSide: number): number =>
  Math.floor(((2 * at + 1) * fullSide) / (2 * side));

/** The most pixels of the full picture that are read at once, unless a row of the level needs more. */
const mostPixels = 2 ** 24;

/** Cuts what is read of a level into groups of rows, so that the same part of the full picture fits into memory. */
export function* nearestRows({ from, to }: CopyRect, level: Size, full: Size): Generator<CopyRect> {
  const pixelsOfRow = (from.width * full.width * full.height) / (level.width * level.height);
  const most = Math.max(1, Math.floor(mostPixels / pixelsOfRow));
  for (let y = 0; y < from.height; y += most) {
    yield { from: { ...from, y: from.y + y, height: Math.min(most, from.height - y) }, to: { x: to.x, y: to.y + y } };
  }
}
