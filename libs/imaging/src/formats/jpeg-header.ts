import type { Size } from '@halogrid/geometry';
import { InputError } from '@halogrid/sources/input-error';
import { withCommentAtEnd } from '../jpeg/comment-at-end.ts';
import { mendHeader, mendJpeg } from '../jpeg/mend-jpeg.ts';
import { whyNoHeader } from './jpeg-verdict.ts';
import { readTurboJpegHeader, type TurboJpegHeader } from './turbojpeg.ts';

/** A JPEG with a readable header. */
export interface ReadJpeg extends Size {
  /** The whole file. */
  file: Uint8Array;
  /** The file, without bytes in its header that do not belong to it. */
  bytes: Uint8Array;
  /** A sentence that says what was removed; absent if nothing was. */
  mended?: string;
}

/** Reads the header. Throws InputError for a JPEG without 8-bit luma, or with a damaged header. */
export function readJpeg(file: Uint8Array): ReadJpeg {
  const header = readHeader(file);
  if (typeof header !== 'string') return { file, bytes: file, ...sizeOf(header) };
  const mended = mendHeader(file);
  const again = mended && readHeader(mended.bytes);
  if (!again || typeof again === 'string') {
    throw new InputError('decode', whyNoHeader(file, header));
  }
  return { file, ...mended, ...sizeOf(again) };
}

/**
 * The versions of a JPEG to decode, one after another, until libjpeg gives no warning: the whole JPEG, so that libjpeg
 * warns of all leftover bytes before restart markers; then the mended JPEG. It yields undefined now and then while it
 * mends.
 */
export function* versionsOf(jpeg: ReadJpeg): Generator<Pick<ReadJpeg, 'bytes' | 'mended'> | undefined> {
  const { mended } = jpeg;
  const commented = withCommentAtEnd(jpeg.bytes);
  yield commented ? { bytes: commented, mended } : jpeg;
  const found = yield* mendJpeg(jpeg.file);
  if (found && found.mended !== mended) yield found;
  // It cannot be mended. Without the added comment, libjpeg may not warn of leftover bytes, and then decodes it.
  else if (commented) yield jpeg;
}

function sizeOf({ width, height, precision, colourspace }: TurboJpegHeader): Size {
  if (precision !== 8) {
    throw new InputError('decode', `${precision}-bit samples are not supported yet: 8-bit JPEG is`);
  }
  if (colourspace === undefined || colourspace === 'CMYK' || colourspace === 'YCCK') {
    const name = colourspace ?? 'an unknown colourspace';
    throw new InputError('decode', `A JPEG in ${name} has no defined luma: grayscale, YCbCr and RGB have`);
  }
  return { width, height };
}

function readHeader(jpeg: Uint8Array): TurboJpegHeader | string {
  trustJfifVersion(jpeg);
  return readTurboJpegHeader(jpeg);
}

/**
 * Some cameras write JFIF version 2. Decoding does not depend on it, but libjpeg warns of it, and decoding stops at
 * the first warning. So it is overwritten with 1.
 */
function trustJfifVersion(jpeg: Uint8Array): void {
  const start = Buffer.from(jpeg.buffer, jpeg.byteOffset, Math.min(jpeg.length, 12)).toString('latin1');
  if (/^\xff\xd8\xff\xe0..JFIF\0/s.test(start)) jpeg[11] = 1;
}
