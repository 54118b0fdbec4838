/*
 * How libjpeg by default enlarges chroma to the size of luma, and converts to RGB: jdsample.c and jdcolor.c, with the
 * integers of libjpeg-turbo, whose SIMD code gives the same. If a component has half of the columns or rows, each
 * sample weighs 3 and its neighbour 1, and halves are alternately rounded up and down; with other factors samples are
 * repeated.
 */

/** Samples of a component, rows without gaps. */
export interface ComponentSamples {
  width: number;
  height: number;
  bytes: Uint8Array;
  /** Pixels that a sample covers, side by side and one above the other. */
  across: number;
  down: number;
}

/** Components with half as many columns and at most this width have their samples repeated. */
export const narrow = 2;

/** The value of a component at a pixel. */
export function sampleAt({ width, height, bytes, across, down }: ComponentSamples, x: number, y: number): number {
  const [column, row] = [Math.floor(x / across), Math.floor(y / down)];
  const at = (cx: number, cy: number): number => {
    const inside = (place: number, size: number) => Math.min(Math.max(place, 0), size - 1);
    return bytes[inside(cy, height) * width + inside(cx, width)]!;
  };
  const [isRight, isBelow] = [x % 2, y % 2];
  const beside = column + 2 * isRight - 1;
  const next = row + 2 * isBelow - 1;
  const own = at(column, row);
  if (across === 1 && down === 2) return (3 * own + at(column, next) + 1 + isBelow) >> 2;
  if (across !== 2 || down > 2 || width <= narrow) return own;
  if (down === 1) return (3 * own + at(beside, row) + 1 + isRight) >> 2;
  const sum = 3 * own + at(column, next);
  return (3 * sum + 3 * at(beside, row) + at(beside, next) + 8 - isRight) >> 4;
}

/** Red, green and blue from luma and chroma. */
export function rgbOf(y: number, cb: number, cr: number): [red: number, green: number, blue: number] {
  const [u, v] = [cb - 128, cr - 128];
  const limit = (value: number) => Math.min(255, Math.max(0, value));
  return [
    limit(y + ((91881 * v + 32768) >> 16)),
    limit(y + ((-22554 * u - 46802 * v + 32768) >> 16)),
    limit(y + ((116130 * u + 32768) >> 16)),
  ];
}
