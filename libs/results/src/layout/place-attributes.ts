import {
  geoKeysOf,
  isOfCentres,
  modelPixelScale,
  modelTiepoint,
  modelTransformation,
  numbersOf,
  type Place,
} from '@halogrid/imaging/place';

/** Keys of GeoTIFF 1.1 (OGC 19-008r4). */
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
  const keys = geoKeysOf(place);
  const code = [keys.get(projectedKey), keys.get(geodeticKey)].find(isEpsg);
  const transform = transformOf(place);
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

/** x = a column + b row + c and y = d column + e row + f of the upper left corner of a pixel, from a to f. */
function transformOf(place: Place): number[] | undefined {
  const affine = affineOf(place);
  if (!affine || !isOfCentres(place)) return affine;
  const [a, b, c, d, e, f] = affine as [number, number, number, number, number, number];
  return [a, b, c - (a + b) / 2, d, e, f - (d + e) / 2];
}

function affineOf(place: Place): number[] | undefined {
  const matrix = numbersOf(place, modelTransformation);
  if (matrix.length === 16) return [matrix[0]!, matrix[1]!, matrix[3]!, matrix[4]!, matrix[5]!, matrix[7]!];
  const [width, height] = numbersOf(place, modelPixelScale);
  const points = numbersOf(place, modelTiepoint);
  if (width === undefined || height === undefined || points.length !== 6) return undefined;
  const [column, row, , x, y] = points as [number, number, number, number, number];
  return [width, 0, x - column * width, 0, -height, y + row * height];
}
