// Tile sources of the deep zoom library: the tiles of a map, and regions of a source as tiles.

/** Side of the tiles of a Deep Zoom map that halogrid writes, in pixels. */
const mapTilePx = 256;
/** Side of the tiles of a source on the screen, in pixels. */
const sourceTilePx = 512;
/** The smallest side of a picture that the API accepts. */
const leastSide = 16;
/** Levels that a source has besides full resolution: tiles of a still coarser level would take too long to decode. */
const sourceLevels = 2;

/** The level of full resolution. @param {number} width @param {number} height */
const lastLevel = (width, height) => Math.ceil(Math.log2(Math.max(width, height, 1)));

/**
 * The tiles of a Deep Zoom map. `urlOf` gives the address of a file in its folder.
 *
 * @param {{ width: number, height: number }} size
 * @param {(file: string) => string} urlOf
 */
export function mapTiles({ width, height }, urlOf) {
  return {
    width,
    height,
    tileSize: mapTilePx,
    tileOverlap: 0,
    minLevel: 0,
    maxLevel: lastLevel(width, height),
    /** @param {number} level @param {number} x @param {number} y */
    getTileUrl: (level, x, y) => urlOf(`${level}/${x}_${y}.png`),
  };
}

/**
 * Regions of a source as tiles, at full, half and quarter resolution. `urlOf` gives the address of a region by its API
 * query.
 *
 * @param {{ width: number, height: number }} size
 * @param {(query: URLSearchParams) => string} urlOf
 */
export function sourceTiles({ width, height }, urlOf) {
  const maxLevel = lastLevel(width, height);
  return {
    width,
    height,
    tileSize: sourceTilePx,
    tileOverlap: 0,
    maxLevel,
    minLevel: Math.max(0, maxLevel - sourceLevels),
    /** @param {number} level @param {number} x @param {number} y */
    getTileUrl(level, x, y) {
      const scale = 2 ** (maxLevel - level);
      const part = sourceTilePx * scale;
      // A region at the edge is smaller than a tile. Its picture keeps the scale of the others: one that filled the
      // tile would be cut.
      const longest = Math.max(Math.min(part, width - x * part), Math.min(part, height - y * part));
      const side = Math.max(leastSide, Math.ceil(longest / scale));
      const asked = { x: x * part, y: y * part, width: part, height: part, side };
      return urlOf(new URLSearchParams(Object.entries(asked).map(([name, value]) => [name, String(value)])));
    },
  };
}
