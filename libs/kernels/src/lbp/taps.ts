import { type Offset, onePixel } from './ring.ts';

/**
 * What a neighbour of weight 1 weighs. Sums of weights times pixels of 16 bits stay below 2^50: doubles hold them
 * exactly.
 */
export const unit = onePixel * onePixel;

/** The pixel left above a neighbour, seen from the pixel, and how far right of and below that the neighbour is. */
export function placeOf({ x, y }: Offset): { left: number; top: number; right: number; down: number } {
  const [left, top] = [Math.floor(x / onePixel), Math.floor(y / onePixel)];
  return { left, top, right: x - left * onePixel, down: y - top * onePixel };
}

/** One of the four pixels around a neighbour, seen from the pixel. */
export interface Corner {
  column: number;
  row: number;
  /** In units of 1 / `unit`, a whole number; 0 where the neighbour does not depend on it. */
  weight: number;
}

/** The four pixels around a neighbour: left and right above, left and right below. */
export function cornersOf(neighbour: Offset): Corner[] {
  const { left, top, right, down } = placeOf(neighbour);
  return [
    { column: left, row: top, weight: (onePixel - right) * (onePixel - down) },
    { column: left + 1, row: top, weight: right * (onePixel - down) },
    { column: left, row: top + 1, weight: (onePixel - right) * down },
    { column: left + 1, row: top + 1, weight: right * down },
  ];
}

/** The four pixels around each neighbour: their steps from the pixel in memory, and their weights. */
export function tapsOf(neighbours: readonly Offset[], stride: number): { steps: Int32Array; weights: Float64Array } {
  const corners = neighbours.flatMap(cornersOf);
  return {
    steps: Int32Array.from(corners, ({ column, row }) => row * stride + column),
    weights: Float64Array.from(corners, ({ weight }) => weight),
  };
}
