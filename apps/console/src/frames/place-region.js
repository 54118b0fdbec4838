/** @import { Region } from './region.js' */

/**
 * Places `frame` over a region of the picture that fills its parent.
 *
 * @param {HTMLElement} frame
 * @param {Region} region
 * @param {{ width: number, height: number }} size of the picture, in the same unit
 */
export function placeRegion({ style }, { x, y, width, height }, size) {
  style.left = `${(100 * x) / size.width}%`;
  style.top = `${(100 * y) / size.height}%`;
  style.width = `${(100 * width) / size.width}%`;
  style.height = `${(100 * height) / size.height}%`;
}
