/**
 * The number of the cell of a grid at a point of a picture, counted row by row. Row r of R holds the rows of pixels
 * from floor(r H / R) to before floor((r + 1) H / R).
 *
 * @param {{ x: number, y: number }} at shares of the picture, from 0 to below 1
 * @param {{ width: number, height: number }} size of the picture in pixels
 * @param {{ rows: number, columns: number }} grid
 */
export function cellAt(at, { width, height }, { rows, columns }) {
  return part(at.y, height, rows) * columns + part(at.x, width, columns);
}

/** @param {number} share @param {number} length pixels @param {number} count parts */
const part = (share, length, count) => Math.floor(((Math.floor(share * length) + 1) * count - 1) / length);
