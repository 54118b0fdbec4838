/**
 * A rectangle of pixels, from 0 at the upper left.
 *
 * @typedef {{ x: number, y: number, width: number, height: number }} Region
 */

/**
 * The pixels between two points of a picture, in any order; at least one in each direction.
 *
 * @param {{ x: number, y: number }} from shares of the picture, 0 to 1; a point outside is moved to the edge
 * @param {{ x: number, y: number }} to
 * @param {{ width: number, height: number }} size of the picture in pixels
 * @returns {Region}
 */
export function regionBetween(from, to, size) {
  const [x, width] = span(from.x, to.x, size.width);
  const [y, height] = span(from.y, to.y, size.height);
  return { x, y, width, height };
}

/**
 * The first pixel between two shares of a length, and the number of pixels.
 *
 * @param {number} a
 * @param {number} b
 * @param {number} length
 */
function span(a, b, length) {
  const [start, end] = [Math.min(a, b), Math.max(a, b)].map((share) =>
    Math.round(Math.min(1, Math.max(0, share)) * length),
  );
  const first = Math.min(/** @type {number} */ (start), length - 1);
  return /** @type {[number, number]} */ ([first, Math.max(1, /** @type {number} */ (end) - first)]);
}

/** A region for the API: `X,Y,WxH`. @param {Region} region */
export const regionText = ({ x, y, width, height }) => `${x},${y},${width}x${height}`;

/**
 * Whether a region has whole pixels and is inside a picture.
 *
 * @param {Region} region
 * @param {{ width: number, height: number }} size
 */
export function isInPicture({ x, y, width, height }, size) {
  const isWhole = [x, y, width, height].every((value) => Number.isInteger(value) && value >= 0);
  return isWhole && width > 0 && height > 0 && x + width <= size.width && y + height <= size.height;
}

/**
 * The smallest region that holds some cells of a grid, in shares of the picture; undefined if that is the whole
 * picture, or there are no cells.
 *
 * @param {readonly number[]} cells numbers of cells, row by row
 * @param {{ rows: number, columns: number }} grid
 * @returns {Region | undefined}
 */
export function regionOfCells(cells, { rows, columns }) {
  if (cells.length === 0) return undefined;
  const [x, width] = extent(
    cells.map((cell) => cell % columns),
    columns,
  );
  const [y, height] = extent(
    cells.map((cell) => Math.floor(cell / columns)),
    rows,
  );
  return width === 1 && height === 1 ? undefined : { x, y, width, height };
}

/**
 * Where some of `count` equal parts of a length begin, and how far they reach, in shares of the length.
 *
 * @param {readonly number[]} parts
 * @param {number} count
 */
function extent(parts, count) {
  const first = Math.min(...parts);
  return /** @type {[number, number]} */ ([first / count, (Math.max(...parts) - first + 1) / count]);
}
