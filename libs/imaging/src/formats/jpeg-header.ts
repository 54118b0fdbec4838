import type { Size } from '@halogrid/geometry';
import { InputError } from '@halogrid/sources/input-error';
import { readTurboJpegHeader } from './turbojpeg.ts';

/** Width and height in pixels. Throws InputError for a JPEG that has no 8-bit luma or a damaged header. */
export function readJpegHeader(jpeg: Uint8Array): Size {
  trustJfifVersion(jpeg);
  const header = readTurboJpegHeader(jpeg);
  if (typeof header === 'string') {
    throw new InputError('decode', `The header of the JPEG is damaged or cut off: ${header}`);
  }
  const { width, height, precision, colourspace } = header;
  if (precision !== 8) {
    throw new InputError('decode', `${precision}-bit samples are not supported yet: 8-bit JPEG is`);
  }
  if (colourspace === undefined || colourspace === 'CMYK' || colourspace === 'YCCK') {
    const name = colourspace ?? 'an unknown colourspace';
    throw new InputError('decode', `A JPEG in ${name} has no defined luma: grayscale, YCbCr and RGB have`);
  }
  return { width, height };
}

/**
 * Some cameras write JFIF version 2. Decoding does not depend on it, but libjpeg warns of it, and decoding stops at
 * the first warning. So it is overwritten with 1.
 */
function trustJfifVersion(jpeg: Uint8Array): void {
  const start = Buffer.from(jpeg.buffer, jpeg.byteOffset, Math.min(jpeg.length, 12)).toString('latin1');
  if (/^\xff\xd8\xff\xe0..JFIF\0/s.test(start)) jpeg[11] = 1;
}
