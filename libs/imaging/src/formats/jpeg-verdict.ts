// Pure parts of the verdict on a JPEG: libjpeg-turbo stops at its first warning, and what it has decoded by then tells what that was about.
import type { Size } from '@halogrid/geometry';
import type { DecodeOutcome, JpegTarget } from './turbojpeg.ts';

/** A cache line: so many bytes of anything are allowed between the pixels of a JPEG and its end marker. */
const maxPaddingBytes = 64;

const endMarker = Buffer.from([0xff, 0xd9]);

export type FoundRows = 'decoded' | 'every row' | 'rows missing';

/** To be called before rows of that size are decoded to `target`; what it gives then tells how far that came. */
export function watchLastRow(
  { width, height }: Size,
  { bytes, stride, channels }: JpegTarget,
): (outcome: DecodeOutcome) => FoundRows {
  // A pattern that no image ends with tells whether the last row was decoded.
  const pattern = (i: number): number => (i * 89) & 255;
  const lastRowAt = (height - 1) * stride;
  const lastRow = bytes.subarray(lastRowAt, lastRowAt + width * channels);
  for (let i = 0; i < lastRow.length; i++) lastRow[i] = pattern(i);
  return (outcome) => {
    if (outcome === 'decoded') return 'decoded';
    return lastRow.some((value, i) => value !== pattern(i)) ? 'every row' : 'rows missing';
  };
}

/** A JPEG less the bytes before its end marker that it may have too many. */
export function withoutPadding(jpeg: Uint8Array): Uint8Array {
  return jpeg.subarray(0, Math.max(0, endOf(jpeg) - maxPaddingBytes));
}

/** What is said of a JPEG whose data is not good. */
export const whyDamaged = (jpeg: Uint8Array): string =>
  hasEnd(jpeg) ? 'The JPEG data is damaged or cut off' : 'The JPEG is cut off: its end marker is missing';

export const hasEnd = (jpeg: Uint8Array): boolean => endOf(jpeg) >= 0;

/** Where the last end marker is; -1: nowhere. */
function endOf(jpeg: Uint8Array): number {
  return Buffer.from(jpeg.buffer, jpeg.byteOffset, jpeg.length).lastIndexOf(endMarker);
}
