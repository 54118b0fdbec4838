import { type Offset, onePixel } from './ring.ts';

/** What a neighbour of weight 1 weighs. Sums of weights times pixels of 16 bits stay below 2^50: doubles hold them exactly. */
export const unit = onePixel * onePixel;

/** The four pixels around each neighbour: their steps from the pixel in memory, and their weights. */
export function tapsOf(neighbours: readonly Offset[], stride: number): { steps: Int32Array; weights: Float64Array } {
  const taps = neighbours.flatMap(({ x, y }) => {
    const [left, top] = [Math.floor(x / onePixel), Math.floor(y / onePixel)];
    const [right, bottom] = [x - left * onePixel, y - top * onePixel];
    const step = top * stride + left;
    return [
      { step, weight: (onePixel - right) * (onePixel - bottom) },
      { step: step + 1, weight: right * (onePixel - bottom) },
      { step: step + stride, weight: (onePixel - right) * bottom },
      { step: step + stride + 1, weight: right * bottom },
    ];
  });
  return { steps: Int32Array.from(taps, (tap) => tap.step), weights: Float64Array.from(taps, (tap) => tap.weight) };
}
