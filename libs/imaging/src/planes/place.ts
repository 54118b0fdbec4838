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

/** How the values of each tag of a place are stored. */
export const placeTags: ReadonlyMap<number, 'doubles' | 'shorts' | 'text'> = new Map([
  [33550, 'doubles'], // ModelPixelScale
  [33922, 'doubles'], // ModelTiepoint
  [34264, 'doubles'], // ModelTransformation
  [34735, 'shorts'], // GeoKeyDirectory
  [34736, 'doubles'], // GeoDoubleParams
  [34737, 'text'], // GeoAsciiParams
]);

/** The most values of a tag: control points of a large scan are some thousands, each of six numbers. */
export const maxPlaceValues = 65_536;
