import type { CaptureTime } from '@halogrid/sources/capture-time';
import { exifTime } from './exif-time.ts';
import { jpegSegment } from './jpeg-segment.ts';

/** When the picture was taken, as the Exif of a JPEG states it; undefined if it does not. */
export function jpegTime(jpeg: Uint8Array): CaptureTime | undefined {
  const exif = jpegSegment(jpeg, 'exif');
  return exif && exifTime(exif);
}
