/**
 * Where an image lies on the Earth, as the tags of a GeoTIFF say it (OGC 19-008r4, GeoTIFF 1.1). Numbers are finite.
 * The tags are in ascending order; those that the file lacks are absent.
 */
export interface Place {
  tags: readonly PlaceTag[];
}

export interface PlaceTag {
  tag: number;
  /** Numbers; text in Latin-1, without a zero at its end. */
  values: readonly number[] | string;
}

export const modelPixelScale = 33550;
export const modelTiepoint = 33922;
export const modelTransformation = 34264;
const geoKeyDirectory = 34735;

/** How the values of each tag of a place are stored. */
export const placeTags: ReadonlyMap<number, 'doubles' | 'shorts' | 'text'> = new Map([
  [modelPixelScale, 'doubles'],
  [modelTiepoint, 'doubles'],
  [modelTransformation, 'doubles'],
  [geoKeyDirectory, 'shorts'],
  [34736, 'doubles'], // GeoDoubleParams
  [34737, 'text'], // GeoAsciiParams
]);

/** The most values of a tag: control points of a large scan are some thousands, each of six numbers. */
export const maxPlaceValues = 65_536;

/** The numbers of a tag; none if the place lacks the tag or it holds text. */
export function numbersOf({ tags }: Place, wanted: number): readonly number[] {
  const values = tags.find(({ tag }) => tag === wanted)?.values ?? [];
  return typeof values === 'string' ? [] : values;
}

/** The GeoKeys whose value is in the directory itself. */
export function geoKeysOf(place: Place): Map<number, number> {
  // Four numbers for each key, after four about the directory.
  const [, , , count = 0, ...entries] = numbersOf(place, geoKeyDirectory);
  const keys = new Map<number, number>();
  for (let i = 0; i < count && 4 * i + 3 < entries.length; i++) {
    const [key, location, , value] = entries.slice(4 * i, 4 * i + 4);
    if (location === 0) keys.set(key!, value!);
  }
  return keys;
}

/** GTRasterTypeGeoKey, and its value for coordinates that count from the centre of the first pixel. */
const rasterTypeKey = 1025;
const pixelIsPoint = 2;

/** Whether coordinates count from the centre of the first pixel, not from its corner. */
export const isOfCentres = (place: Place): boolean => geoKeysOf(place).get(rasterTypeKey) === pixelIsPoint;
