import type { Size } from '@halogrid/geometry';
import {
  isOfCentres,
  modelPixelScale,
  modelTiepoint,
  modelTransformation,
  type Place,
  type PlaceTag,
} from '../../planes/place.ts';

/**
 * The place of a level of the image of size `full` that has `place`: both cover the same area, as GDAL has it of
 * overviews.
 */
export function placeOfLevel(place: Place, full: Size, level: Size): Place {
  const [across, down] = [full.width / level.width, full.height / level.height];
  // Where the corner of the first pixel is, from where coordinates count.
  const corner = isOfCentres(place) ? 0.5 : 0;
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
  return { tags: place.tags.map(({ tag, values }) => ({ tag, values: valuesOf({ tag, values }) })) };
}
