import type { Rect } from '@halogrid/geometry';
import { type Format, formats, InputError, type InputFile, isPlaneUri, openInputFile } from '@halogrid/sources';
import { openBmp } from './formats/bmp.ts';
import { openJp2 } from './formats/jp2/jp2.ts';
import { openJpeg } from './formats/jpeg.ts';
import { openPnm } from './formats/pnm.ts';
import { sniffFormat } from './formats/sniff-format.ts';
import { openTiff } from './formats/tiff/tiff.ts';
import { openAvif, openGif, openPng, openWebp } from './formats/whole-image.ts';
import { openZarr } from './formats/zarr/zarr.ts';
import { checkPixels, defaultMaxWholePixels } from './pixel-limit.ts';
import type { OpenImage } from './planes/image.ts';
import { markPlanes } from './planes/mark-no-data.ts';
import type { PlaneTarget } from './planes/plane-target.ts';
import { type ReadOptions, sayAsked } from './planes/read-options.ts';
import { openSlide } from './slides/open-slide.ts';

export interface OpenImageOptions extends ReadOptions {
  /** Images that cannot be read by region and have more pixels are not decoded whole; 2^28 by default. */
  maxWholePixels?: number;
}

/** Takes `file` over and closes it, sooner or later; also when it rejects. */
type Opener = (file: InputFile, maxWholePixels: number, asked: ReadOptions & { uri: string }) => Promise<OpenImage>;

const openers: Record<Format, Opener> = {
  jpeg: openJpeg,
  png: openPng,
  webp: openWebp,
  tiff: openTiff,
  pnm: openPnm,
  bmp: openBmp,
  gif: openGif,
  avif: openAvif,
  jp2: openJp2,
  zarr: (file, _, { uri }) => openZarr(file, uri),
  slide: (file, _, { uri, level }) => openSlide(file, uri, level),
};

/**
 * Opens the image at a URI and reads its header; the format is told by content, but for a plane of a Zarr and a slide,
 * which the URI tells. Rejects with InputError for every input that cannot be processed.
 */
export async function openImage(uri: string, options: OpenImageOptions = {}): Promise<OpenImage> {
  const file = await openInputFile(uri);
  try {
    const format = isPlaneUri(uri) ? 'zarr' : sniffFormat(file.head, uri);
    checkReadOptions(format, options);
    const image = await openers[format](file, options.maxWholePixels ?? defaultMaxWholePixels, { ...options, uri });
    checkPixels(image.width, image.height);
    return Object.assign(hasSamples(image.format) ? image : marking(image), {
      version: image.version ?? file.version,
    });
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** Whether samples of such images are chosen and scaled; these tell themselves which have no value. */
const hasSamples = (format: Format): boolean => format === 'tiff' || format === 'jp2';

const hasPages = (format: Format): boolean => format === 'tiff' || format === 'gif' || format === 'webp';

/** The image; its decoded planes tell which pixels have no value. */
function marking(image: OpenImage): OpenImage {
  const decode = image.decode.bind(image);
  return Object.assign(image, {
    async decode(region: Rect, to: PlaneTarget): Promise<void> {
      await decode(region, to);
      if (to.noData) markPlanes(region, to, image.pixel, to.noData);
    },
  });
}

/** Throws InputError for an image without pages or levels, or whose samples are neither bands nor values to scale. */
function checkReadOptions(format: Format, { band, scale, level, page = 1 }: ReadOptions): void {
  const [name] = formats[format].names;
  if (page > 1 && !hasPages(format))
    throw new InputError('decode', `A ${name} has no pages but the job asks for page ${page}`);
  if (hasSamples(format)) return;
  if (band || scale) {
    const what = band ? 'a band (--band)' : 'scaled samples (--scale)';
    const remedy = 'exclude other images, or process them in a job of their own';
    throw new InputError('decode', `The job reads ${what}, which only TIFF and JPEG 2000 have: ${remedy}`);
  }
  if (!level || format === 'slide') return;
  // Which number of level a plane is of, its URI tells.
  if (format !== 'zarr')
    throw new InputError('decode', `A ${name} has no levels but the job asks for ${sayAsked(level)}`);
  if ('microns' in level)
    throw new InputError('decode', `Levels of an ${name} have numbers but the job asks for ${sayAsked(level)}`);
}
