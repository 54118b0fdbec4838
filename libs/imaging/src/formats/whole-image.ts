import type { Rect } from '@halogrid/geometry';
import { formats, InputError, type InputFile } from '@halogrid/sources';
import { checkHasPixels, checkWholePixels } from '../pixel-limit.ts';
import { checkDecodeRequest } from '../planes/decode-request.ts';
import type { OpenImage } from '../planes/image.ts';
import type { PlaneTarget } from '../planes/plane-target.ts';
import type { ReadOptions } from '../planes/read-options.ts';
import { openSharp, type SharpFormat, type SharpImage } from './sharp-image.ts';

/** What is said of an animation. */
const firstFrame = 'only the first frame of an animation was read';

/** Takes `file` over. An animation is its first frame, or the frame that is asked for. */
export async function openWebp(file: InputFile, maxWholePixels: number, { page }: ReadOptions): Promise<OpenImage> {
  const image = await openWholeImage(file, 'webp', maxWholePixels, { page });
  return image.mended ? Object.assign(image, { mended: `${firstFrame}; --page N reads another` }) : image;
}

/** Takes `file` over. An animated PNG is its first frame. */
export async function openPng(file: InputFile, maxWholePixels: number): Promise<OpenImage> {
  // The header is read here, not by libpng, so that the message is right even if nothing follows the header.
  const { head } = file;
  if (head.length < 29 || head.toString('latin1', 12, 16) !== 'IHDR') {
    throw new InputError('decode', 'The PNG has no header: it is cut off or damaged');
  }
  const [width, height] = [head.readUInt32BE(16), head.readUInt32BE(20)];
  checkHasPixels(width, height);
  // Only without interlacing do its rows come in order; an interlaced image has to be held whole.
  if (head[28] === 1) checkWholePixels(width, height, maxWholePixels);
  const mended = isAnimatedPng(head) ? firstFrame : undefined;
  return Object.assign(await openWholeImage(file, 'png', maxWholePixels), { mended });
}

/** Whether a chunk that only animations have comes before the pixels. */
function isAnimatedPng(head: Buffer): boolean {
  for (let at = 8; at + 8 <= head.length; at += 12 + head.readUInt32BE(at)) {
    const chunk = head.toString('latin1', at + 4, at + 8);
    if (chunk === 'acTL') return true;
    if (chunk === 'IDAT') return false;
  }
  return false;
}

/** Takes `file` over. Refuses an animation without a `page`: which of its frames counts is not for us to choose. */
export async function openGif(file: InputFile, maxWholePixels: number, { page }: ReadOptions): Promise<OpenImage> {
  // A small file may claim a large canvas, which is decoded to four bytes a pixel.
  if (file.head.length >= 10) checkWholePixels(file.head.readUInt16LE(6), file.head.readUInt16LE(8), maxWholePixels);
  const check = ({ frames }: SharpImage): void => {
    if (frames === 1 || page) return;
    const remedy = '--page N reads one, and ffmpeg -i IN.gif OUT-%06d.png makes an image of each';
    throw new InputError('decode', `A GIF with ${frames} frames is not read, only one with a single frame: ${remedy}`);
  };
  return openWholeImage(file, 'gif', maxWholePixels, { page, check });
}

/**
 * Takes `file` over. Refuses 10 and 12 bits a sample, which libvips would stretch to 16. Libheif gives the colours:
 * docs/inputs.md names its version.
 */
export async function openAvif(file: InputFile, maxWholePixels: number): Promise<OpenImage> {
  const check = ({ width, height, pixel }: SharpImage): void => {
    checkWholePixels(width, height, maxWholePixels);
    if (pixel === 'u8') return;
    throw new InputError('decode', 'An AVIF with 10 or 12 bits a sample is not supported: one with 8 bits is');
  };
  return openWholeImage(file, 'avif', maxWholePixels, { check });
}

/**
 * A file that can only be decoded whole or, if it is too large for that, copied. `page`: the frame of an animation that
 * is asked for. `check` refuses what libvips would read otherwise than we do. Takes `file` over.
 */
async function openWholeImage(
  file: InputFile,
  format: SharpFormat,
  maxWholePixels: number,
  { page, check }: { page?: number | undefined; check?: (image: SharpImage) => void } = {},
): Promise<OpenImage> {
  const image = await openSharp(await file.whole(), format, page);
  check?.(image);
  const { width, height, pixel, frames, captured } = image;
  if (page && page > frames) {
    const [name] = formats[format].names;
    const has = frames === 1 ? '1 frame' : `${frames} frames`;
    throw new InputError('decode', `The ${name} has ${has} but the job asks for page ${page}`);
  }
  const isLarge = width * height > maxWholePixels;
  // A file that claims more pixels than it can hold is refused before its pixels are read.
  if (isLarge)
    checkWholePixels(
      width,
      height,
      formats[format].mostPixelsPerByte * file.sizeBytes,
      `a file of ${file.sizeBytes} bytes can hold`,
    );
  const opened: OpenImage = {
    format,
    width,
    height,
    pixel,
    readsRegions: false,
    inputBytes: file.bytesRead,
    captured,
    mended: frames > 1 && !page ? firstFrame : undefined,
    async decode(region: Rect, to: PlaneTarget): Promise<void> {
      checkDecodeRequest(opened, region, to);
      checkWholePixels(width, height, maxWholePixels);
      await image.decode(region, to);
    },
    copy: isLarge ? { bytes: () => image.copyBytes, write: (path) => image.copyTiled(path) } : undefined,
    close: () => file.close(),
  };
  return opened;
}
