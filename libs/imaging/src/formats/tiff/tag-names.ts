/** The tags that are read, and their numbers. */
export const tiffTags = {
  NewSubfileType: 254,
  ImageWidth: 256,
  ImageLength: 257,
  BitsPerSample: 258,
  Compression: 259,
  PhotometricInterpretation: 262,
  FillOrder: 266,
  ImageDescription: 270,
  StripOffsets: 273,
  SamplesPerPixel: 277,
  RowsPerStrip: 278,
  StripByteCounts: 279,
  XResolution: 282,
  PlanarConfiguration: 284,
  T4Options: 292,
  T6Options: 293,
  ResolutionUnit: 296,
  Predictor: 317,
  ColorMap: 320,
  TileWidth: 322,
  TileLength: 323,
  TileOffsets: 324,
  TileByteCounts: 325,
  SubIFDs: 330,
  ExtraSamples: 338,
  SampleFormat: 339,
  JPEGTables: 347,
  YCbCrCoefficients: 529,
  YCbCrSubSampling: 530,
  ReferenceBlackWhite: 532,
  ExifIFD: 34665,
  GDAL_NODATA: 42113,
  LercParameters: 50674,
  DNGVersion: 50706,
} as const;

const names = new Map<number, string>(Object.entries(tiffTags).map(([name, tag]) => [tag, name]));

/** A tag in messages: its number, and its name if it is listed here. */
export function nameOfTag(tag: number): string {
  const name = names.get(tag);
  return name ? `${tag} (${name})` : String(tag);
}
