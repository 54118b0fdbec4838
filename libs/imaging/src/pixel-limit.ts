import { InputError } from '@halogrid/sources/input-error';

/**
 * 2^28: an image that is decoded whole takes at most 256 MiB a plane. A small file that claims more is a decompression
 * bomb.
 */
export const defaultMaxWholePixels = 2 ** 28;

/** 2^40: a hundred times the largest scans there are, and still a plan of some ten thousand tiles. */
const maxPixels = 2 ** 40;

/** Throws InputError for an image whose header claims so many pixels that planning it would take for ever. */
export function checkPixels(width: number, height: number): void {
  if (width * height > maxPixels) {
    throw new InputError('decode', `${width}x${height} is more than the ${maxPixels} pixels that an image may have`);
  }
}

/**
 * Throws InputError for an image that must be decoded whole and is empty or has more than `maxPixels`; `limit` says
 * why.
 */
export function checkWholePixels(
  width: number,
  height: number,
  maxPixels: number,
  limit = `the ${maxPixels} that are decoded whole; TIFF, PNG, JPEG and binary PGM and PPM may have more where they are cut into tiles`,
): void {
  checkHasPixels(width, height);
  if (width * height > maxPixels) {
    throw new InputError('decode', `${width}x${height} is ${width * height} pixels, more than ${limit}`);
  }
}

/** Throws InputError for an image without pixels. */
export function checkHasPixels(width: number, height: number): void {
  if (!(width > 0 && height > 0)) throw new InputError('decode', `The image has no pixels: ${width}x${height}`);
}
