import { type Rect, sampleBytes } from '@halogrid/geometry';
import type { OpenImage, ReadOptions } from '@halogrid/imaging';

/** Planes of pixels, one after another: gray, or red, green and blue. */
export interface ShownPixels {
  bytes: Uint8Array;
  planes: 1 | 3;
}

/**
 * What a picture shows of an image if a job reads that: three bands as red, green and blue, in the order in which the
 * job names them; of other numbers of bands the first, in gray.
 */
export function shownOf({ band, ...read }: ReadOptions): ReadOptions {
  if (!band) return read;
  const { numbers } = band;
  return { ...read, band: { numbers: numbers.length === 3 ? numbers : numbers.slice(0, 1) } };
}

/** Decodes a region of an image that was opened by `shownOf`. Rejects with InputError. */
export async function decodeShown(image: OpenImage, region: Rect): Promise<ShownPixels> {
  const { pixel, grayPlanes } = image;
  const planes = grayPlanes === 1 ? 1 : 3;
  const stride = region.width * sampleBytes[pixel];
  const planeBytes = stride * region.height;
  const bytes = new Uint8Array(planes * planeBytes);
  const channels = grayPlanes ? 'gray' : 'rgb';
  await image.decode(region, { bytes, offset: 0, stride, channels, planeBytes });
  return { bytes, planes };
}
