import { type Offset, onePixel } from './ring.ts';

/** The weight of a whole pixel. Sums of weights times 16-bit pixels stay below 2^50, which doubles hold exactly. */
export const unit = onePixel * onePixel;

/**
 * The pixel left of and above a neighbour, relative to the centre, and how far the neighbour is right of and below it.
 */
export function placeOf({ x, y }: Offset): { left: number; top: number; right: number; down: number } {
  const [left, top] = [Math.floor(x / onePixel), Math.floor(y / onePixel)];
  return { left, top, right: x - left * onePixel, down: y - top * onePixel };
}

/** One of the four pixels around a neighbour, relative to the centre. */
export interface Corner {
  column: number;
  row: number;
  /** An integer in units of 1 / `unit`; 0 if the neighbour does not depend on the pixel. */
  weight: number;
}

/** The four pixels around a neighbour: upper left and right, lower left and right. */
export function cornersOf(neighbour: Offset): Corner[] {
  const { left, top, right, down } = placeOf(neighbour);
  return [
    { column: left, row: top, weight: (onePixel - right) * (onePixel - down) },
    { column: left + 1, row: top, weight: right * (onePixel - down) },
    { column: left, row: top + 1, weight: (onePixel - right) * down },
    { column: left + 1, row: top + 1, weight: right * down },
  ];
}

/** The four pixels around each neighbour: their distances from the centre in memory, and their weights. */
export function tapsOf(neighbours: readonly Offset[], stride: number): { steps: Int32Array; weights: Float64Array } {
  const corners = neighbours.flatMap(cornersOf);
  return {
    steps: Int32Array.from(corners, ({ column, row }) => row * stride + column),
    weights: Float64Array.from(corners, ({ weight }) => weight),
  };
}
