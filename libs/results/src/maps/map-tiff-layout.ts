import { emptySample, type SampleType, type Size, sampleBytes } from '@halogrid/geometry';
import type { Place, PlaceTag } from '@halogrid/imaging/place';
import { placeTags } from '@halogrid/imaging/place';
import type { TilePlace } from '../layout/map-codec.ts';
import { bytesPerPixel, type MapType } from '../layout/map-type.ts';
import {
  ascii,
  double,
  type Entry,
  encodeTiffHead,
  long,
  long8,
  rational,
  short,
  zeroTerminated,
} from './tiff-directories.ts';

/** The layout of a TIFF file of uncompressed tiles, and the bytes before the first tile. */
export interface MapTiffLayout {
  isBigTiff: boolean;
  /** The map first, then its coarser levels. */
  levels: readonly TiledLevel[];
  /** Header and directories. */
  head: Uint8Array;
  /** Length of the file. */
  fileBytes: number;
}

/** What a map says about itself. */
export interface MapTiffFacts {
  /** The ImageDescription, in Latin-1. */
  description: string;
  software?: string;
  place?: Place | undefined;
  /** Whether the sample for no value is stated, if there is one beside 0. */
  hasNoData?: boolean;
  /** Written beside a place. */
  bandNames?: readonly string[];
}

/** The place of a level's tiles, which lie row by row, without gaps. */
export interface TiledLevel {
  size: Size;
  tile: Size;
  tilesAcross: number;
  tiles: number;
  tileBytes: number;
  /** The byte at which the first tile begins. */
  offset: number;
}

/**
 * Side of a tile in pixels. A smaller image has one tile of its size, rounded up to a multiple of 16, as TIFF requires.
 */
export const mapTilePx = 512;

/** The most bytes of a TIFF file, whose offsets have 32 bits. A longer file is written as BigTIFF. */
export const classicTiffBytes = 2 ** 32 - 1;

/** SampleFormat: unsigned, signed or floating point. */
const sampleFormats: Record<SampleType, number> = { u8: 1, u16: 1, u32: 1, i16: 2, f32: 3 };

/**
 * Lays out a map and its coarser levels as a Cloud Optimized GeoTIFF, with its source's place. All directories come
 * before the pixels, from the map to the coarsest level. The pixels come in the opposite order, so that a reader gets
 * the overview soon after the head. Nothing is compressed, so that the bytes are equal on every machine and with every
 * version of a compressor. A file of more than `classicBytes` is BigTIFF.
 *
 * The bands of a pixel lie together (PlanarConfiguration 1): every reader of several bands can open this. Observed:
 * libvips refuses tiles in separate planes, OpenCV mixes up planes of floats, and GDAL and tifffile read both. Three
 * bands of bytes are RGB. Otherwise the first band is gray, and the others are extra samples without a meaning, not
 * transparency.
 */
export function layOutMapTiff(
  sizes: readonly Size[],
  type: MapType,
  facts: MapTiffFacts,
  classicBytes = classicTiffBytes,
): MapTiffLayout {
  const layOut = (isBigTiff: boolean): MapTiffLayout => {
    const encode = (levels: readonly TiledLevel[]): Uint8Array =>
      encodeHead(levels, levels.map(tilePlaces), type, facts, isBigTiff, uncompressed);
    const headBytes = encode(tiledLevels(sizes, type, 0)).length;
    const levels = tiledLevels(sizes, type, headBytes);
    const { offset, tiles, tileBytes } = levels[0]!;
    return { isBigTiff, levels, head: encode(levels), fileBytes: offset + tiles * tileBytes };
  };
  const classic = layOut(false);
  return classic.fileBytes <= classicBytes ? classic : layOut(true);
}

/**
 * The bytes before the first tile of a file with the same levels, whose tiles were compressed by Deflate and lie at
 * `places`. They are as many as the bytes in `layout.head`.
 */
export function deflatedHead(
  { levels, isBigTiff }: MapTiffLayout,
  places: readonly (readonly TilePlace[])[],
  type: MapType,
  facts: MapTiffFacts,
): Uint8Array {
  return encodeHead(levels, places, type, facts, isBigTiff, deflated);
}

/** Values of Compression. */
const uncompressed = 1;
const deflated = 8;

function encodeHead(
  levels: readonly TiledLevel[],
  places: readonly (readonly TilePlace[])[],
  type: MapType,
  facts: MapTiffFacts,
  isBigTiff: boolean,
  compression: number,
): Uint8Array {
  const directories = levels.map((level, i) =>
    directoryOf(level, places[i]!, i > 0, type, facts, isBigTiff, compression),
  );
  return encodeTiffHead(directories, isBigTiff);
}

/** The places of uncompressed tiles. */
export const tilePlaces = ({ tiles, tileBytes, offset }: TiledLevel): TilePlace[] =>
  Array.from({ length: tiles }, (_, i) => ({ offset: offset + i * tileBytes, bytes: tileBytes }));

/** The places of all levels. The coarsest level begins at `from`, and the map comes last. */
function tiledLevels(sizes: readonly Size[], type: MapType, from: number): TiledLevel[] {
  let offset = from;
  const levels = sizes.toReversed().map((size) => {
    const tile = { width: tileSide(size.width), height: tileSide(size.height) };
    const tilesAcross = Math.ceil(size.width / tile.width);
    const tiles = tilesAcross * Math.ceil(size.height / tile.height);
    const tileBytes = tile.width * tile.height * bytesPerPixel(type);
    const level = { size, tile, tilesAcross, tiles, tileBytes, offset };
    offset += tiles * tileBytes;
    return level;
  });
  return levels.reverse();
}

function directoryOf(
  { size, tile }: TiledLevel,
  places: readonly TilePlace[],
  isOverview: boolean,
  { sample, bands }: MapType,
  { description, software = 'halogrid', place, hasNoData = false, bandNames = [] }: MapTiffFacts,
  isBigTiff: boolean,
  compression: number,
): Entry[] {
  const isRgb = sample === 'u8' && bands === 3;
  const extraBands = bands - (isRgb ? 3 : 1);
  const ofEachBand = (value: number): number[] => new Array<number>(bands).fill(value);
  const ofMap = (entry: Entry): Entry[] => (isOverview ? [] : [entry]);
  return [
    ...(isOverview ? [{ tag: 254, type: long, values: [1] } as const] : []), // NewSubfileType: lower resolution
    { tag: 256, type: long, values: [size.width] }, // ImageWidth
    { tag: 257, type: long, values: [size.height] }, // ImageLength
    { tag: 258, type: short, values: ofEachBand(8 * sampleBytes[sample]) }, // BitsPerSample
    { tag: 259, type: short, values: [compression] }, // Compression
    { tag: 262, type: short, values: [isRgb ? 2 : 1] }, // PhotometricInterpretation: RGB, or black is zero
    ...ofMap({ tag: 270, type: ascii, values: zeroTerminated(description) }), // ImageDescription
    { tag: 277, type: short, values: [bands] }, // SamplesPerPixel
    { tag: 282, type: rational, values: [1, 1] }, // XResolution
    { tag: 283, type: rational, values: [1, 1] }, // YResolution
    { tag: 284, type: short, values: [1] }, // PlanarConfiguration: the samples of a pixel together
    { tag: 296, type: short, values: [1] }, // ResolutionUnit: none
    ...ofMap({ tag: 305, type: ascii, values: zeroTerminated(software) }), // Software
    { tag: 322, type: long, values: [tile.width] }, // TileWidth
    { tag: 323, type: long, values: [tile.height] }, // TileLength
    {
      tag: 324, // TileOffsets
      type: isBigTiff ? long8 : long,
      values: places.map(({ offset }) => offset),
    },
    { tag: 325, type: long, values: places.map(({ bytes }) => bytes) }, // TileByteCounts
    ...(extraBands ? [{ tag: 338, type: short, values: new Array<number>(extraBands).fill(0) } as const] : []), // ExtraSamples: unspecified
    { tag: 339, type: short, values: ofEachBand(sampleFormats[sample]) }, // SampleFormat
    ...(isOverview || !place ? [] : placeEntries(place, bandNames)),
    ...(!hasNoData || emptySample[sample] === 0
      ? []
      : ofMap({ tag: 42113, type: ascii, values: zeroTerminated(`${emptySample[sample]}`.toLowerCase()) })), // GDAL_NODATA
  ];
}

/** The tags of a place, and the names of the bands as GDAL reads them. */
function placeEntries({ tags }: Place, bandNames: readonly string[]): Entry[] {
  const items = bandNames.map((name, i) => `<Item name="DESCRIPTION" sample="${i}" role="description">${name}</Item>`);
  const metadata = `<GDALMetadata>${items.join('')}</GDALMetadata>`;
  return [
    ...tags.map(placeEntry),
    ...(items.length > 0 ? [{ tag: 42112, type: ascii, values: zeroTerminated(metadata) } as const] : []),
  ];
}

function placeEntry({ tag, values }: PlaceTag): Entry {
  if (typeof values === 'string') return { tag, type: ascii, values: zeroTerminated(values) };
  return { tag, type: placeTags.get(tag) === 'shorts' ? short : double, values };
}

const tileSide = (imagePx: number): number => Math.min(mapTilePx, Math.ceil(imagePx / 16) * 16);
