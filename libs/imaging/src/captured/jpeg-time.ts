import type { CaptureTime } from '@halogrid/sources/capture-time';
import { exifTime } from './exif-time.ts';
import { jpegExif } from './jpeg-exif.ts';

/** When the picture was taken, as the Exif of a JPEG states it; undefined if it does not. */
export function jpegTime(jpeg: Uint8Array): CaptureTime | undefined {
  const exif = jpegExif(jpeg);
  return exif && exifTime(exif);
}
