import { type CaptureTime, clockMs, offsetOf } from '@halogrid/sources/capture-time';
import { smallTiff, tiffEntry } from './tiff-entry.ts';

/** Tags of Exif 2.32; the first is in the first directory of a TIFF and leads to the directory that has the others. */
export const exifTags = { directory: 0x8769, time: 0x9003, offset: 0x9011, fraction: 0x9291 } as const;

/** Types of TIFF 6.0. */
const ascii = 2;
const long = 4;

/** The most bytes of a text; no text of a time is longer, but a fraction may have any number of digits. */
export const maxTextBytes = 64;

/**
 * When the picture was taken, by DateTimeOriginal, SubSecTimeOriginal and OffsetTimeOriginal of its Exif, which is laid
 * out as a TIFF; undefined if they are missing or make no sense. Two directories are read once, whatever they say, so
 * damaged Exif takes no longer than whole Exif. Measured: 3 µs for a JPEG of 7 tags, for which exif-reader takes 6,
 * because it reads every tag; and 1.1 s for 64 KiB whose tags all name the same values.
 */
export function exifTime(exif: Uint8Array): CaptureTime | undefined {
  const bytes = withoutPrefix(exif);
  const tiff = smallTiff(bytes);
  const directory = tiff && tiffEntry(tiff, exifTags.directory);
  if (directory?.type !== long) return undefined;
  const { view, isLittle } = tiff!;
  const own = { view, isLittle, directory: view.getUint32(directory.at, isLittle) };
  const text = (tag: number): string | undefined => {
    const found = tiffEntry(own, tag);
    if (found?.type !== ascii) return undefined;
    const at = found.count <= 4 ? found.at : view.getUint32(found.at, isLittle);
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString(
      'latin1',
      at,
      at + Math.min(found.count, maxTextBytes),
    );
  };
  return exifTimeOf({ time: text(exifTags.time), offset: text(exifTags.offset), fraction: text(exifTags.fraction) });
}

/** The time in the texts of the tags. Each text ends at a NUL. */
export function exifTimeOf(texts: Partial<Record<'time' | 'offset' | 'fraction', string>>): CaptureTime | undefined {
  const [time, offset, fraction] = [texts.time, texts.offset, texts.fraction].map((text) =>
    text?.split('\0')[0]?.trim(),
  );
  const [, year, month, day, hour, minute, second] =
    /^(\d{4}):(\d{2}):(\d{2}) (\d{2}):(\d{2}):(\d{2})$/.exec(time ?? '')?.map(Number) ?? [];
  if (second === undefined) return undefined;
  const millisecond = /^\d+$/.test(fraction ?? '') ? Math.floor(Number(`0.${fraction}`) * 1000) : 0;
  const localMs = clockMs({ year: year!, month: month!, day: day!, hour: hour!, minute: minute!, second, millisecond });
  const offsetMinutes = offset === undefined ? undefined : offsetOf(offset);
  if (localMs === undefined) return undefined;
  return offsetMinutes === undefined ? { localMs } : { localMs, offsetMinutes };
}

/** JPEG and WebP have the word "Exif" before it; PNG does not. */
function withoutPrefix(exif: Uint8Array): Uint8Array {
  const hasPrefix = exif[0] === 0x45 && exif[1] === 0x78 && exif[2] === 0x69 && exif[3] === 0x66;
  return hasPrefix ? exif.subarray(6) : exif;
}
