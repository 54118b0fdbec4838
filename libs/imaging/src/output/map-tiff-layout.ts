import { type MapType, pixelBytes, type SampleType, sampleBytes } from './map-type.ts';
import type { Size } from './size.ts';

/** Where everything lies in a TIFF file of uncompressed tiles, and the bytes before the first of them. */
export interface MapTiffLayout {
  isBigTiff: boolean;
  tile: Size;
  tilesAcross: number;
  tileBytes: number;
  /** Header and directory; the first tile follows, then the others row by row, without gaps. */
  head: Uint8Array;
  /** Length of the file. */
  fileBytes: number;
}

/** Side of a tile. An image that is smaller has one tile as large as itself, rounded up to the 16 that TIFF asks for. */
export const mapTilePx = 512;

/** Offsets in a TIFF file have 32 bits; a file that is longer is written as BigTIFF. */
export const classicTiffBytes = 2 ** 32 - 1;

/** SampleFormat: unsigned, signed or floating point. */
const sampleFormats: Record<SampleType, number> = { u8: 1, u16: 1, u32: 1, i16: 2, f32: 3 };

const short = 3;
const long = 4;
const rational = 5;
const ascii = 2;
const long8 = 16;

interface Entry {
  tag: number;
  type: number;
  /** Characters for ascii; numerator and denominator for rational. */
  values: number[];
}

/**
 * Lays out a map. Nothing is compressed, so that the bytes are equal on every machine and with every version of a
 * compressor. `description` becomes the ImageDescription, Latin-1. A file of more than `classicBytes` is BigTIFF.
 *
 * The bands of a pixel lie together (PlanarConfiguration 1), which every reader opens that opens several bands at all.
 * Seen: libvips refuses tiles in separate planes, OpenCV mixes up planes of floats, and GDAL and tifffile read both.
 * Three bands of bytes are RGB; otherwise the first band is gray and the others are extra samples without a meaning, not
 * transparency.
 */
export function layOutMapTiff(
  size: Size,
  type: MapType,
  description: string,
  software: string,
  classicBytes = classicTiffBytes,
): MapTiffLayout {
  const { sample, bands } = type;
  const isRgb = sample === 'u8' && bands === 3;
  const extraBands = bands - (isRgb ? 3 : 1);
  const ofEachBand = (value: number): number[] => new Array<number>(bands).fill(value);
  const tile = { width: tileSide(size.width), height: tileSide(size.height) };
  const tilesAcross = Math.ceil(size.width / tile.width);
  const tiles = tilesAcross * Math.ceil(size.height / tile.height);
  const tileBytes = tile.width * tile.height * pixelBytes(type);
  const layOut = (isBigTiff: boolean): MapTiffLayout => {
    const offsetType = isBigTiff ? long8 : long;
    const entries = (firstTile: number): Entry[] => [
      { tag: 256, type: long, values: [size.width] }, // ImageWidth
      { tag: 257, type: long, values: [size.height] }, // ImageLength
      { tag: 258, type: short, values: ofEachBand(8 * sampleBytes[sample]) }, // BitsPerSample
      { tag: 259, type: short, values: [1] }, // Compression: none
      { tag: 262, type: short, values: [isRgb ? 2 : 1] }, // PhotometricInterpretation: RGB, or black is zero
      { tag: 270, type: ascii, values: zeroTerminated(description) }, // ImageDescription
      { tag: 277, type: short, values: [bands] }, // SamplesPerPixel
      { tag: 282, type: rational, values: [1, 1] }, // XResolution
      { tag: 283, type: rational, values: [1, 1] }, // YResolution
      { tag: 284, type: short, values: [1] }, // PlanarConfiguration: the samples of a pixel together
      { tag: 296, type: short, values: [1] }, // ResolutionUnit: none
      { tag: 305, type: ascii, values: zeroTerminated(software) }, // Software
      { tag: 322, type: long, values: [tile.width] }, // TileWidth
      { tag: 323, type: long, values: [tile.height] }, // TileLength
      { tag: 324, type: offsetType, values: Array.from({ length: tiles }, (_, i) => firstTile + i * tileBytes) }, // TileOffsets
      { tag: 325, type: long, values: new Array<number>(tiles).fill(tileBytes) }, // TileByteCounts
      ...(extraBands ? [{ tag: 338, type: short, values: new Array<number>(extraBands).fill(0) }] : []), // ExtraSamples: unspecified
      { tag: 339, type: short, values: ofEachBand(sampleFormats[sample]) }, // SampleFormat
    ];
    // The length of the head does not depend on the offsets in it.
    const headBytes = encodeHead(entries(0), isBigTiff).length;
    const head = encodeHead(entries(headBytes), isBigTiff);
    return { isBigTiff, tile, tilesAcross, tileBytes, head, fileBytes: headBytes + tiles * tileBytes };
  };
  const classic = layOut(false);
  return classic.fileBytes <= classicBytes ? classic : layOut(true);
}

const tileSide = (imagePx: number): number => Math.min(mapTilePx, Math.ceil(imagePx / 16) * 16);

const zeroTerminated = (text: string): number[] => [...Buffer.from(`${text}\0`, 'latin1')];

/** Bytes of one value of a type. */
const valueBytes: Record<number, number> = { [ascii]: 1, [short]: 2, [long]: 4, [rational]: 8, [long8]: 8 };

/** Little-endian header, one directory, then the values that do not fit into their entry. */
function encodeHead(entries: Entry[], isBigTiff: boolean): Uint8Array {
  const [headerBytes, countBytes, entryBytes, inlineBytes] = isBigTiff ? [16, 8, 20, 8] : [8, 2, 12, 4];
  const lengthOf = ({ type, values }: Entry): number =>
    type === rational ? 4 * values.length : valueBytes[type]! * values.length;
  const outside = entries.filter((entry) => lengthOf(entry) > inlineBytes);
  const directoryBytes = countBytes + entryBytes * entries.length + inlineBytes;
  const valuesAt = roundUp(headerBytes + directoryBytes, 8);
  const total = outside.reduce((end, entry) => roundUp(end + lengthOf(entry), 8), valuesAt);

  const bytes = new Uint8Array(total);
  const view = new DataView(bytes.buffer);
  const setOffset = (at: number, value: number): void => {
    if (isBigTiff) view.setBigUint64(at, BigInt(value), true);
    else view.setUint32(at, value, true);
  };
  bytes.set([0x49, 0x49]);
  view.setUint16(2, isBigTiff ? 43 : 42, true);
  if (isBigTiff) view.setUint16(4, 8, true);
  setOffset(isBigTiff ? 8 : 4, headerBytes);
  if (isBigTiff) view.setBigUint64(headerBytes, BigInt(entries.length), true);
  else view.setUint16(headerBytes, entries.length, true);

  let next = valuesAt;
  entries.forEach((entry, i) => {
    const at = headerBytes + countBytes + i * entryBytes;
    view.setUint16(at, entry.tag, true);
    view.setUint16(at + 2, entry.type, true);
    setOffset(at + 4, lengthOf(entry) / valueBytes[entry.type]!);
    const inlineAt = at + 4 + inlineBytes;
    if (lengthOf(entry) <= inlineBytes) {
      setValues(view, inlineAt, entry);
    } else {
      setOffset(inlineAt, next);
      setValues(view, next, entry);
      next = roundUp(next + lengthOf(entry), 8);
    }
  });
  return bytes;
}

function setValues(view: DataView, from: number, { type, values }: Entry): void {
  const bytes = type === rational ? 4 : valueBytes[type]!;
  values.forEach((value, i) => {
    const at = from + i * bytes;
    if (bytes === 1) view.setUint8(at, value);
    else if (bytes === 2) view.setUint16(at, value, true);
    else if (bytes === 4) view.setUint32(at, value, true);
    else view.setBigUint64(at, BigInt(value), true);
  });
}

const roundUp = (value: number, unit: number): number => Math.ceil(value / unit) * unit;
