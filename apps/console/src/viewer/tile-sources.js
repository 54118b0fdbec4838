// What the deep zoom is told of pictures: where the tiles of a map are, and which parts of a source are its tiles.

/** Side of the tiles of a Deep Zoom map, as halogrid writes them. */
const mapTilePx = 256;
/** Side of the tiles of a source, as they are shown. */
const sourceTilePx = 512;
/** The least side of a picture that may be asked for. */
const leastSide = 16;
/** Levels above that of the pixels themselves: of larger parts a tile would take too long to decode. */
const sourceLevels = 2;

/** The level at which each pixel is one. @param {number} width @param {number} height */
const lastLevel = (width, height) => Math.ceil(Math.log2(Math.max(width, height, 1)));

/**
 * A map in Deep Zoom's form. `urlOf` gives the address of a file of its folder.
 *
 * @param {{ width: number, height: number }} size
 * @param {(file: string) => string} urlOf
 */
export function mapTiles({ width, height }, urlOf) {
  return {
    ...{ width, height, tileSize: mapTilePx, tileOverlap: 0, minLevel: 0, maxLevel: lastLevel(width, height) },
    /** @param {number} level @param {number} x @param {number} y */
    getTileUrl: (level, x, y) => urlOf(`${level}/${x}_${y}.png`),
  };
}

/**
 * The parts of a source that are shown as large as they are, and twice half as large. `urlOf` is given what to ask for.
 *
 * @param {{ width: number, height: number }} size
 * @param {(query: URLSearchParams) => string} urlOf
 */
export function sourceTiles({ width, height }, urlOf) {
  const maxLevel = lastLevel(width, height);
  return {
    ...{ width, height, tileSize: sourceTilePx, tileOverlap: 0, maxLevel },
    minLevel: Math.max(0, maxLevel - sourceLevels),
    /** @param {number} level @param {number} x @param {number} y */
    getTileUrl(level, x, y) {
      const scale = 2 ** (maxLevel - level);
      const part = sourceTilePx * scale;
      // What is left in a corner is as much smaller as other parts are: a picture that filled a tile would be cut.
      const longest = Math.max(Math.min(part, width - x * part), Math.min(part, height - y * part));
      const side = Math.max(leastSide, Math.ceil(longest / scale));
      const asked = { x: x * part, y: y * part, width: part, height: part, side };
      return urlOf(new URLSearchParams(Object.entries(asked).map(([name, value]) => [name, String(value)])));
    },
  };
}
