import type { Size } from '@halogrid/geometry';
import type { Place, PlaceTag } from '../../planes/place.ts';

const modelPixelScale = 33550;
const modelTiepoint = 33922;
const modelTransformation = 34264;
const geoKeyDirectory = 34735;
/** GTRasterTypeGeoKey, and its value for coordinates that count from the middle of the first pixel. */
const rasterTypeKey = 1025;
const pixelIsPoint = 2;

/**
 * The place of a level of the image of size `full` that has `place`: both cover the same area, as GDAL has it of
 * overviews.
 */
export function placeOfLevel({ tags }: Place, full: Size, level: Size): Place {
  const [across, down] = [full.width / level.width, full.height / level.height];
  // Where the corner of the first pixel is, from where coordinates count.
  const corner = isOfPoints(tags) ? 0.5 : 0;
  const valuesOf = ({ tag, values }: PlaceTag): PlaceTag['values'] => {
    if (typeof values === 'string') return values;
    if (tag === modelPixelScale) return values.map((value, i) => value * ([across, down][i] ?? 1));
    if (tag === modelTiepoint) {
      const moved = (value: number, by: number): number => (value + corner) / by - corner;
      return values.map((value, i) => (i % 6 === 0 ? moved(value, across) : i % 6 === 1 ? moved(value, down) : value));
    }
    if (tag !== modelTransformation || values.length !== 16) return values;
    return [0, 4, 8, 12].flatMap((row) => {
      const [x, y, z, from] = values.slice(row, row + 4) as [number, number, number, number];
      const moved = x * corner * (across - 1) + y * corner * (down - 1);
      return row === 12 ? [x, y, z, from] : [x * across, y * down, z, from + moved];
    });
  };
  return { tags: tags.map(({ tag, values }) => ({ tag, values: valuesOf({ tag, values }) })) };
}

function isOfPoints(tags: readonly PlaceTag[]): boolean {
  const keys = tags.find(({ tag }) => tag === geoKeyDirectory)?.values ?? [];
  // Four numbers for each key, after four of the directory: the key, where its value is (0: in the last), how many, it.
  for (let at = 4; at + 3 < keys.length; at += 4) {
    if (keys[at] === rasterTypeKey && keys[at + 1] === 0) return keys[at + 3] === pixelIsPoint;
  }
  return false;
}
