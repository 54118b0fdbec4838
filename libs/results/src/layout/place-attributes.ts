import type { Place } from '@halogrid/imaging/place';

/** Numbers of tags and keys of GeoTIFF 1.1 (OGC 19-008r4). */
const pixelScale = 33550;
const tiepoint = 33922;
const transformation = 34264;
const geoKeys = 34735;
const rasterTypeKey = 1025;
const pixelIsPoint = 2;
const geodeticKey = 2048;
const projectedKey = 3072;
/** Codes of EPSG; 32767 is a system that the file itself defines. */
const isEpsg = (code: number | undefined): code is number => code !== undefined && code >= 1024 && code <= 32766;

/**
 * The attributes of a Zarr with a place, by the conventions "proj" (https://github.com/zarr-conventions/proj) and
 * "spatial" (https://github.com/zarr-conventions/spatial), version 1. A system without a code of EPSG is left out, and
 * so is a place by several control points.
 */
export function placeAttributes(place: Place): object {
  const keys = keysOf(place);
  const code = [keys.get(projectedKey), keys.get(geodeticKey)].find(isEpsg);
  const transform = transformOf(place, keys.get(rasterTypeKey) === pixelIsPoint);
  const conventions = [...(code === undefined ? [] : [proj]), ...(transform ? [spatial] : [])];
  if (conventions.length === 0) return {};
  return {
    zarr_conventions: conventions,
    ...(code !== undefined && { 'proj:code': `EPSG:${code}` }),
    ...(transform && { 'spatial:dimensions': ['y', 'x'], 'spatial:transform': transform }),
  };
}

const proj = {
  schema_url: 'https://raw.githubusercontent.com/zarr-conventions/geo-proj/refs/tags/v1/schema.json',
  spec_url: 'https://github.com/zarr-conventions/geo-proj/blob/v1/README.md',
  uuid: 'f17cb550-5864-4468-aeb7-f3180cfb622f',
  name: 'proj',
};

const spatial = {
  schema_url: 'https://raw.githubusercontent.com/zarr-conventions/spatial/refs/tags/v1/schema.json',
  spec_url: 'https://github.com/zarr-conventions/spatial/blob/v1/README.md',
  uuid: '689b58e2-cf7b-45e0-9fff-9cfc0883d6b4',
  name: 'spatial',
};

const numbersOf = ({ tags }: Place, wanted: number): readonly number[] => {
  const values = tags.find(({ tag }) => tag === wanted)?.values ?? [];
  return typeof values === 'string' ? [] : values;
};

/** The keys whose value is in the directory itself. */
function keysOf(place: Place): Map<number, number> {
  const [, , , count = 0, ...entries] = numbersOf(place, geoKeys);
  const keys = new Map<number, number>();
  for (let i = 0; i < count && 4 * i + 3 < entries.length; i++) {
    const [key, location, , value] = entries.slice(4 * i, 4 * i + 4);
    if (location === 0) keys.set(key!, value!);
  }
  return keys;
}

/** x = a column + b row + c and y = d column + e row + f of the upper left corner of a pixel, from a to f. */
function transformOf(place: Place, isOfCentres: boolean): number[] | undefined {
  const affine = affineOf(place);
  if (!affine || !isOfCentres) return affine;
  const [a, b, c, d, e, f] = affine as [number, number, number, number, number, number];
  return [a, b, c - (a + b) / 2, d, e, f - (d + e) / 2];
}

function affineOf(place: Place): number[] | undefined {
  const matrix = numbersOf(place, transformation);
  if (matrix.length === 16) return [matrix[0]!, matrix[1]!, matrix[3]!, matrix[4]!, matrix[5]!, matrix[7]!];
  const [width, height] = numbersOf(place, pixelScale);
  const points = numbersOf(place, tiepoint);
  if (width === undefined || height === undefined || points.length !== 6) return undefined;
  const [column, row, , x, y] = points as [number, number, number, number, number];
  return [width, 0, x - column * width, 0, -height, y + row * height];
}
