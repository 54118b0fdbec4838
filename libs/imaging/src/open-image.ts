import { type Format, formats, InputError, type InputFile, openInputFile } from '@halogrid/sources';
import { openJpeg } from './formats/jpeg.ts';
import { openPnm } from './formats/pnm.ts';
import { sniffFormat } from './formats/sniff-format.ts';
import { type AskedLevel, sayAsked } from './formats/tiff/asked-level.ts';
import { openTiff } from './formats/tiff/tiff.ts';
import { openPng, openWebp } from './formats/whole-image.ts';
import { checkPixels, defaultMaxWholePixels } from './pixel-limit.ts';
import type { OpenImage } from './planes/image.ts';

export interface OpenImageOptions {
  /** Images that cannot be read by region and have more pixels are not decoded whole; 2^28 by default. */
  maxWholePixels?: number;
  /** The level of pyramids; absent: the largest. An image without levels has only the largest. */
  level?: AskedLevel | undefined;
}

/** Takes `file` over and closes it, sooner or later; also when it rejects. */
type Opener = (file: InputFile, maxWholePixels: number, level?: AskedLevel) => Promise<OpenImage>;

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
    if (options.level && format !== 'tiff') {
      const [name] = formats[format].names;
      throw new InputError('decode', `A ${name} has no levels but the job asks for ${sayAsked(options.level)}`);
    }
    const image = await openers[format](file, options.maxWholePixels ?? defaultMaxWholePixels, options.level);
    checkPixels(image.width, image.height);
    return Object.assign(image, { version: file.version });
  } catch (error) {
    await file.close();
    throw error;
  }
}
