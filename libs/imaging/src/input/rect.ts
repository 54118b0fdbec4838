/** A rectangle of pixels: x to the right, y down. */
export interface Rect {
  x: number;
  y: number;
  width: number;
  height: number;
}
