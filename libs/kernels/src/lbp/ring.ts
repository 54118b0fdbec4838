/** The position of a neighbour relative to the pixel: x to the right, y down; `onePixel` units are a pixel. */
export interface Offset {
  readonly x: number;
  readonly y: number;
}

/** Units in a pixel. Offsets on circles are rounded to five decimals, as in scikit-image. */
export const onePixel = 100_000;

/**
 * `points` positions on a circle of `radius` pixels. `place` returns (x, y) on the unit circle for an angle; the first
 * angle is 0.
 */
export function circle(
  points: number,
  radius: number,
  place: (angle: number) => readonly [x: number, y: number],
): Offset[] {
  return Array.from({ length: points }, (_, i) => {
    const [x, y] = place((2 * Math.PI * i) / points);
    return { x: toUnits(radius * x), y: toUnits(radius * y) };
  });
}

/** The 4 or 8 pixels of a square ring, clockwise; 4 begin above, 8 at the upper left. */
export function square(points: 4 | 8, radius: number): Offset[] {
  const steps = points === 4 ? [0, -1, 1, 0, 0, 1, -1, 0] : [-1, -1, 0, -1, 1, -1, 1, 0, 1, 1, 0, 1, -1, 1, -1, 0];
  return Array.from({ length: points }, (_, i) => ({
    x: steps[2 * i]! * radius * onePixel + 0,
    y: steps[2 * i + 1]! * radius * onePixel + 0,
  }));
}

/** Rounds to whole units, halves to the even one, as NumPy does. */
function toUnits(pixels: number): number {
  const units = pixels * onePixel;
  const rounded = Math.abs(units % 1) === 0.5 ? 2 * Math.round(units / 2) : Math.round(units);
  return rounded + 0;
}
