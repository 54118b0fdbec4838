import { type Format, InputError, type InputFile, openInputFile } from '@halogrid/sources';
import { openJpeg } from './formats/jpeg.ts';
import { openPnm } from './formats/pnm.ts';
import { sniffFormat } from './formats/sniff-format.ts';
import { openTiff } from './formats/tiff/tiff.ts';
import { openPng, openWebp } from './formats/whole-image.ts';
import { checkPixels, defaultMaxWholePixels } from './pixel-limit.ts';
import type { OpenImage } from './planes/image.ts';
import type { ReadOptions } from './planes/read-options.ts';

export interface OpenImageOptions extends ReadOptions {
  /** Images that cannot be read by region and have more pixels are not decoded whole; 2^28 by default. */
  maxWholePixels?: number;
}

/** Takes `file` over and closes it, sooner or later; also when it rejects. */
type Opener = (file: InputFile, maxWholePixels: number, read: ReadOptions) => Promise<OpenImage>;

const openers: Record<Format, Opener> = {
  jpeg: openJpeg,
  png: openPng,
  webp: openWebp,
  tiff: openTiff,
  pnm: openPnm,
};

/**
 * Opens the image at a file:, http:, https: or s3: URI and reads its header; the format is told by content. Rejects
 * with InputError for every input that cannot be processed.
 */
export async function openImage(uri: string, options: OpenImageOptions = {}): Promise<OpenImage> {
  const file = await openInputFile(uri);
  try {
    const format = sniffFormat(file.head, uri);
    checkReadOptions(format, options);
    const image = await openers[format](file, options.maxWholePixels ?? defaultMaxWholePixels, options);
    checkPixels(image.width, image.height);
    return Object.assign(image, { version: file.version });
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** Throws InputError for an image whose samples are neither bands nor values to scale. */
function checkReadOptions(format: Format, { band, scale }: ReadOptions): void {
  if (format === 'tiff' || !(band || scale)) return;
  throw new InputError(
    'decode',
    `The job reads ${band ? 'a band (--band)' : 'scaled samples (--scale)'}, which only a TIFF has: exclude other images, or process them in a job of their own`,
  );
}
