import type { Rect } from '@halogrid/geometry';
import { InputError, type InputFile, type LocalFile } from '@halogrid/sources';
import { checkHasPixels } from '../pixel-limit.ts';
import { checkDecodeRequest } from '../planes/decode-request.ts';
import type { OpenImage } from '../planes/image.ts';
import type { PlaneTarget } from '../planes/plane-target.ts';
import { openRemoteTiles } from './remote-tiles.ts';
import { openSharp } from './sharp-image.ts';
import { readTiffHeader, type TiffHeader } from './tiff-header.ts';
import { openWholeImage } from './whole-image.ts';

/** A larger tile is no way to read a region; such a file counts as one to decode whole. */
const maxTilePixels = 2 ** 24;

const photometrics: Record<number, string> = {
  4: 'a mask',
  5: 'CMYK',
  8: 'CIELab',
  9: 'ICCLab',
  10: 'ITULab',
  32803: 'raw sensor data',
};

/** None, fax, LZW, JPEG, Deflate, PackBits and WebP, and rare ones that libtiff of the sharp package reads. */
const supportedCompressions = new Set([
  1, 2, 3, 4, 5, 7, 8, 32766, 32771, 32773, 32809, 32908, 32946, 34676, 34677, 50001,
]);

/** What it is built without. */
const unsupportedCompressions: Record<number, string> = {
  33003: 'JPEG 2000',
  33004: 'JPEG 2000',
  33005: 'JPEG 2000',
  34661: 'JBIG',
  34712: 'JPEG 2000',
  34887: 'LERC',
  34925: 'LZMA',
  50000: 'Zstandard',
  50002: 'JPEG XL',
};

/**
 * Takes `file` over. The first page; tiles are read by region. libvips' choices hold: where a palette is RGB, RGB is
 * meant; YCbCr becomes RGB before it becomes luma; colours premultiplied by alpha are divided by it.
 */
export async function openTiff(file: InputFile, maxWholePixels: number): Promise<OpenImage> {
  const header = await readTiffHeader(file);
  checkSupported(header);
  const { width, height, tiles } = header;
  checkHasPixels(width, height);
  if (!tiles || tiles.width * tiles.height > maxTilePixels) {
    return openWholeImage(file, 'tiff', maxWholePixels, header.captured);
  }
  checkTiles(header, tiles, file.sizeBytes);
  const access =
    file.kind === 'remote' ? await openRemoteTiles(file, header, tiles) : await openLocalTiles(file, tiles);
  const image = await openSharp(access.path, 'tiff');
  const opened: OpenImage = {
    format: 'tiff',
    width,
    height,
    pixel: image.pixel,
    ...(header.captured && { captured: header.captured }),
    readsRegions: true,
    get inputBytes() {
      return access.inputBytes();
    },
    async decode(region: Rect, to: PlaneTarget): Promise<void> {
      checkDecodeRequest(opened, region, to);
      await access.prepare(region);
      await image.decode(region, to);
    },
    close: access.close,
  };
  return opened;
}

/** What libvips reads tiles from. */
export interface TileAccess {
  readonly path: string;
  /** Before a region is decoded: its tiles are at their places in the file after this. */
  prepare(region: Rect): Promise<void>;
  inputBytes(): number;
  close(): Promise<void>;
}

/** Bytes read are those of the tiles, each as the mean tile of the file. */
async function openLocalTiles(
  file: LocalFile,
  tiles: { width: number; height: number; count: number },
): Promise<TileAccess> {
  await file.close();
  let bytes = 0;
  return {
    path: file.path,
    async prepare(region) {
      bytes += (file.sizeBytes / tiles.count) * tilesTouched(region, tiles);
    },
    inputBytes: () => Math.round(bytes),
    async close() {},
  };
}

function checkSupported(header: TiffHeader): void {
  const { bitsPerSample, sampleFormat, photometric, isPlanar, isDng, tiles } = header;
  const { compression: code } = header;
  const compression = unsupportedCompressions[code] ?? (supportedCompressions.has(code) ? undefined : code);
  if (compression !== undefined) {
    throw new InputError(
      'decode',
      `A TIFF compressed as ${compression} is not supported: LZW, Deflate, PackBits, JPEG, WebP, fax and none are`,
    );
  }
  if (isDng) throw new InputError('decode', 'DNG is not supported: of TIFF, gray, RGB, palette and YCbCr are');
  if (sampleFormat === 3) {
    throw new InputError(
      'decode',
      `${bitsPerSample}-bit floating-point samples are not supported: unsigned ones of 1, 2, 4, 8 and 16 bits are`,
    );
  }
  if (![1, 2, 4, 8, 16].includes(bitsPerSample)) {
    throw new InputError('decode', `${bitsPerSample}-bit samples are not supported: 1, 2, 4, 8 and 16-bit TIFF is`);
  }
  if (bitsPerSample === 16 && ![0, 1, 2].includes(photometric)) {
    throw new InputError('decode', 'Of 16-bit TIFF gray and RGB are supported');
  }
  if (sampleFormat !== 1) throw new InputError('decode', 'Signed samples are not supported: unsigned ones are');
  if (![0, 1, 2, 3, 6].includes(photometric)) {
    const name = photometrics[photometric] ?? `photometric interpretation ${photometric}`;
    throw new InputError('decode', `A TIFF in ${name} has no defined luma: gray, RGB, palette and YCbCr have`);
  }
  if (isPlanar && tiles) {
    throw new InputError('decode', 'Tiles with separate channels are not supported: interleaved channels are');
  }
}

function checkTiles(
  { width, height }: TiffHeader,
  tiles: { width: number; height: number; count: number },
  sizeBytes: number,
): void {
  const needed = Math.ceil(width / tiles.width) * Math.ceil(height / tiles.height);
  if (!(tiles.width > 0 && tiles.height > 0) || tiles.count < needed) {
    throw new InputError(
      'decode',
      `The TIFF is damaged: ${width}x${height} pixels in tiles of ${tiles.width}x${tiles.height} make ${needed} tiles but it lists ${tiles.count}`,
    );
  }
  // The place and length of each tile take 4 bytes at least, so the claimed size is backed by that of the file.
  if (tiles.count * 4 > sizeBytes) {
    throw new InputError(
      'decode',
      `The TIFF is cut off: it lists ${tiles.count} tiles in a file of ${sizeBytes} bytes`,
    );
  }
}

function tilesTouched({ x, y, width, height }: Rect, tile: { width: number; height: number }): number {
  const columns = Math.floor((x + width - 1) / tile.width) - Math.floor(x / tile.width) + 1;
  const rows = Math.floor((y + height - 1) / tile.height) - Math.floor(y / tile.height) + 1;
  return columns * rows;
}
