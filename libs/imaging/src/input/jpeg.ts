import { checkDecodeRequest, checkTarget } from './decode-request.ts';
import { InputError } from './input-error.ts';
import type { InputFile } from './input-file.ts';
import type { OpenImage } from './open-image.ts';
import { checkWholePixels } from './pixel-limit.ts';
import type { Rect } from './rect.ts';
import { decodeTurboJpeg, readTurboJpegHeader } from './turbojpeg.ts';

/** An encoded file is held whole while it is decoded. 2^28 pixels make a tenth of this at the usual qualities. */
const maxFileBytes = 2 ** 30;

/** A cache line. */
const maxPaddingBytes = 64;

const endMarker = Buffer.from([0xff, 0xd9]);

interface Size {
  width: number;
  height: number;
}

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
 * Decodes the luma of a whole JPEG into target[offset + row * stride + column], on a thread of libuv's pool and without a
 * copy: the Y plane as libjpeg decodes it to grayscale, or the luma of RGB. `jpeg` and `target` must stay as they are
 * until the promise settles. Rejects with InputError for data that is damaged or ends early.
 *
 * Decoding stops at libjpeg's first warning. It is good all the same if every row was there by then and only padding was
 * left: some cameras fill up a word or a cache line in front of the end marker.
 */
export async function decodeJpeg(jpeg: Uint8Array, target: Uint8Array, offset: number, stride: number): Promise<void> {
  const size = readJpegHeader(jpeg);
  checkTarget(size.width, size.height, target, offset, stride);
  const found = await decodeRows(jpeg, size, target.subarray(offset), stride);
  if (found === 'decoded' || (found === 'every row' && (await isPadded(jpeg, size)))) return;
  throw new InputError(
    'decode',
    endOf(jpeg) < 0 ? 'The JPEG is cut off: its end marker is missing' : 'The JPEG data is damaged or cut off',
  );
}

async function decodeRows(
  jpeg: Uint8Array,
  { width, height }: Size,
  target: Uint8Array,
  stride: number,
): Promise<'decoded' | 'every row' | 'rows missing'> {
  // A pattern that no image ends with tells whether the last row was decoded.
  const pattern = (i: number): number => (i * 89) & 255;
  const lastRow = target.subarray((height - 1) * stride, (height - 1) * stride + width);
  for (let i = 0; i < width; i++) lastRow[i] = pattern(i);
  if ((await decodeTurboJpeg(jpeg, target, stride)) === 'decoded') return 'decoded';
  return lastRow.some((value, i) => value !== pattern(i)) ? 'every row' : 'rows missing';
}

/**
 * Whether a JPEG of which every row was decoded needs the last bytes before its end marker. If it does not, too many are
 * left over: where data is damaged, pixels go missing without any other sign.
 */
async function isPadded(jpeg: Uint8Array, size: Size): Promise<boolean> {
  const shorter = jpeg.subarray(0, Math.max(0, endOf(jpeg) - maxPaddingBytes));
  return (await decodeRows(shorter, size, new Uint8Array(size.width * size.height), size.width)) === 'rows missing';
}

/** Where the last end marker is; -1: nowhere. */
function endOf(jpeg: Uint8Array): number {
  return Buffer.from(jpeg.buffer, jpeg.byteOffset, jpeg.length).lastIndexOf(endMarker);
}

/** Takes `file` over and reads it whole. */
export async function openJpeg(file: InputFile, maxWholePixels: number): Promise<OpenImage> {
  if (file.sizeBytes > maxFileBytes) {
    throw new InputError('decode', `The JPEG file has ${file.sizeBytes} bytes: at most ${maxFileBytes} are read`);
  }
  const jpeg = await file.readAll();
  const { width, height } = readJpegHeader(jpeg);
  checkWholePixels(width, height, maxWholePixels);
  let decoding: Promise<unknown> = Promise.resolve();
  const opened: OpenImage = {
    format: 'jpeg',
    width,
    height,
    readsRegions: false,
    inputBytes: jpeg.length,
    async decode(region: Rect, target: Uint8Array, offset: number, stride: number): Promise<void> {
      checkDecodeRequest(opened, region, target, offset, stride);
      const decoded = decodeJpeg(jpeg, target, offset, stride);
      decoding = Promise.allSettled([decoding, decoded]);
      await decoded;
    },
    async close(): Promise<void> {
      // The next file takes over the memory that is being decoded.
      await decoding;
      await file.close();
    },
  };
  return opened;
}

/**
 * Some cameras write JFIF version 2. Decoding does not depend on it, but libjpeg warns of it, and decoding stops at
 * the first warning. So it is overwritten with 1.
 */
function trustJfifVersion(jpeg: Uint8Array): void {
  const start = Buffer.from(jpeg.buffer, jpeg.byteOffset, Math.min(jpeg.length, 12)).toString('latin1');
  if (/^\xff\xd8\xff\xe0..JFIF\0/s.test(start)) jpeg[11] = 1;
}
