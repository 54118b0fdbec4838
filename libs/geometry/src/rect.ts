/** A rectangle of pixels: x to the right, y down. */
export interface Rect {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Width and height in pixels. */
export interface Size {
  width: number;
  height: number;
}

/** The part of `a` inside `b`; its width or height is 0 if they do not overlap. */
export function intersect(a: Rect, b: Rect): Rect {
  const x = Math.max(a.x, b.x);
  const y = Math.max(a.y, b.y);
  const width = Math.max(0, Math.min(a.x + a.width, b.x + b.width) - x);
  const height = Math.max(0, Math.min(a.y + a.height, b.y + b.height) - y);
  return { x, y, width, height };
}
