import { readFile } from 'node:fs/promises';
import { type PixelType, type Rect, sampleBytes } from '@halogrid/geometry';
import { InputError } from '@halogrid/sources';
import type { CaptureTime } from '@halogrid/sources/capture-time';
import type { Sharp, SharpOptions } from 'sharp';
import { exifTime } from '../captured/exif-time.ts';
import { loadSharp } from '../load-sharp.ts';
import { asPixels, below, type PlaneTarget } from '../planes/plane-target.ts';
import { writeRows } from '../planes/write-rows.ts';

export type SharpFormat = 'png' | 'webp' | 'gif' | 'avif';

const names: Record<SharpFormat, string> = { png: 'PNG', webp: 'WebP', gif: 'GIF', avif: 'AVIF' };

/**
 * Pixels of RGB held at once, 192 MiB. Bands cost time: for each, a PNG or WebP is decoded again from its first row; an
 * image of 2^28 pixels takes four or five.
 */
const bandPixels = 2 ** 26;

/** Colourspaces of libvips that are read, their pixels and channels. */
const spaces: Record<string, { pixel: PixelType; channels: 1 | 3 }> = {
  'b-w': { pixel: 'u8', channels: 1 },
  srgb: { pixel: 'u8', channels: 3 },
  grey16: { pixel: 'u16', channels: 1 },
  rgb16: { pixel: 'u16', channels: 3 },
};

/** A file as libvips reads it: gray or RGB; palettes and 1, 2 or 4-bit samples are expanded, alpha is left out. */
export interface SharpImage {
  readonly width: number;
  readonly height: number;
  readonly pixel: PixelType;
  /** 1, or more of an animation. */
  readonly frames: number;
  /** As OpenImage.captured. */
  readonly captured?: CaptureTime;
  /** Decodes `region` into the planes of `to`. Rejects with InputError. */
  decode(region: Rect, to: PlaneTarget): Promise<void>;
  /** Bytes of the pixels of a copy. */
  readonly copyBytes: number;
  /**
   * Writes the image to that path as a TIFF in tiles, in one pass that holds a row of tiles. Rejects with InputError.
   */
  copyTiled(path: string): Promise<void>;
}

/** Tiles of a copy: libvips refuses files whose tiles are far larger than they are. */
const copyTilePx = 256;

/**
 * Reads the header of a file of that format, given as its path or its bytes. `frame`: what is decoded of an animation,
 * from 1. Rejects with InputError.
 */
export async function openSharp(file: string | Buffer, format: SharpFormat, frame = 1): Promise<SharpImage> {
  const options: SharpOptions = {
    // Colours as stored, not as a monitor would show them.
    ignoreIcc: true,
    // 'warning' refuses harmless colour profiles of a PNG.
    failOn: 'error',
    // Callers have checked the size.
    limitInputPixels: false,
  };
  // libvips takes brackets at the end of a name for options.
  const input = typeof file === 'string' && file.endsWith(']') ? await readFile(file) : file;
  const sharp = await loadSharp();
  const open = (): Sharp => sharp(input, frame > 1 ? { ...options, page: frame - 1 } : options);
  const refuse = (error: Error): never => {
    throw refusal(error, format);
  };
  const { width, height, depth, space, exif, pages = 1 } = await sharp(input, options).metadata().catch(refuse);
  const stored = spaces[space];
  if (!stored || depth !== (stored.pixel === 'u8' ? 'uchar' : 'ushort')) {
    throw new InputError(
      'decode',
      `Samples of type ${depth} in ${space} are not supported: 8 and 16-bit gray and RGB are`,
    );
  }
  const captured = exif && exifTime(exif);
  const layout = { ...stored, space };
  return {
    width,
    height,
    pixel: stored.pixel,
    frames: pages,
    captured,
    copyBytes: width * height * stored.channels * sampleBytes[stored.pixel],
    async decode(region: Rect, to: PlaneTarget): Promise<void> {
      const bandRows = Math.max(1, Math.floor(bandPixels / region.width));
      for (let row = 0; row < region.height; row += bandRows) {
        const band = { ...region, y: region.y + row, height: Math.min(bandRows, region.height - row) };
        await decodeBand(open(), layout, band, below(to, row), refuse);
      }
    },
    async copyTiled(path: string): Promise<void> {
      const tiles = { tile: true, tileWidth: copyTilePx, tileHeight: copyTilePx };
      const image = open().removeAlpha().toColourspace(space);
      const written = image.tiff({ ...tiles, compression: 'none', bigtiff: true }).toFile(path);
      await written.catch((error: Error) => {
        if (isOfDisk.test(error.message)) throw error;
        refuse(error);
      });
    },
  };
}

async function decodeBand(
  file: Sharp,
  { space, pixel, channels }: { space: string; pixel: PixelType; channels: 1 | 3 },
  { x, y, width, height }: Rect,
  to: PlaneTarget,
  refuse: (error: Error) => never,
): Promise<void> {
  const image = file.extract({ left: x, top: y, width, height }).removeAlpha();
  // Without it gray comes out as RGB, and 16 bits as 8.
  if (space !== 'srgb') image.toColourspace(space);
  const depth = pixel === 'u8' ? 'uchar' : 'ushort';
  const { data, info } = await image.raw({ depth }).toBuffer({ resolveWithObject: true }).catch(refuse);
  if (info.width !== width || info.height !== height || info.channels !== channels) {
    throw new Error(
      `libvips gave ${info.width}x${info.height}x${info.channels} pixels for a region of ${width}x${height}`,
    );
  }
  writeRows({ pixels: asPixels(data, pixel), channels, width, rows: height }, to);
}

/** What libvips says when it cannot write; a disk is never the input's fault. */
const isOfDisk = /no space left|quota exceeded|unable to open for write|wbuffer_write/i;

/**
 * Why a file is refused. The message of libvips is not used: it comes from a buffer that all images of the process
 * share, so it may be about another image that is decoded at the same time.
 */
function refusal(error: Error, format: SharpFormat): InputError {
  // This much sharp says itself.
  const isHeader = /^Input (file|buffer) /.test(error.message);
  const subject = isHeader ? `The header of the ${names[format]}` : `The ${names[format]} data`;
  return new InputError('decode', `${subject} is damaged or cut off`);
}
