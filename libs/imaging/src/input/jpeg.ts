import { giveBackBytes, takeBytes } from './byte-pool.ts';
import { checkDecodeRequest, checkTarget } from './decode-request.ts';
import { InputError } from './input-error.ts';
import type { InputFile } from './input-file.ts';
import type { OpenImage } from './open-image.ts';
import { checkWholePixels } from './pixel-limit.ts';
import type { PlaneTarget } from './plane-target.ts';
import type { Rect } from './rect.ts';
import { decodeTurboJpeg, inTurn, type JpegTarget, readTurboJpegHeader } from './turbojpeg.ts';
import { writeRows } from './write-rows.ts';

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
 * Decodes a whole JPEG into the planes of `to`, on a thread of libuv's pool: as luma the Y plane as libjpeg decodes it to
 * grayscale, or the luma of RGB, without a copy; as RGB what libjpeg makes of it by default, with smooth upsampling of the
 * chroma. `jpeg` and `to` must stay as they are until the promise settles. Rejects with InputError for data that is damaged
 * or ends early.
 *
 * Decoding stops at libjpeg's first warning. It is good all the same if every row was there by then and only padding was
 * left: some cameras fill up a word or a cache line in front of the end marker.
 */
export async function decodeJpeg(jpeg: Uint8Array, to: PlaneTarget): Promise<void> {
  const size = readJpegHeader(jpeg);
  checkTarget(size.width, size.height, to);
  if (await inTurn(() => decodePlanes(jpeg, size, to))) return;
  throw new InputError(
    'decode',
    endOf(jpeg) < 0 ? 'The JPEG is cut off: its end marker is missing' : 'The JPEG data is damaged or cut off',
  );
}

/** Resolves to whether the data is good. */
async function decodePlanes(jpeg: Uint8Array, size: Size, to: PlaneTarget): Promise<boolean> {
  const { width, height } = size;
  if (to.channels === 'gray') {
    return decodeGood(jpeg, size, { bytes: to.bytes.subarray(to.offset), stride: to.stride, channels: 1 });
  }
  const bytes = takeBytes(3 * width * height);
  try {
    const isGood = await decodeGood(jpeg, size, { bytes, stride: 3 * width, channels: 3 });
    if (isGood) writeRows({ pixels: bytes, channels: 3, width, rows: height }, to);
    return isGood;
  } finally {
    giveBackBytes(bytes);
  }
}

async function decodeGood(jpeg: Uint8Array, size: Size, target: JpegTarget): Promise<boolean> {
  const found = await decodeRows(jpeg, size, target);
  return found === 'decoded' || (found === 'every row' && (await isPadded(jpeg, size)));
}

async function decodeRows(
  jpeg: Uint8Array,
  { width, height }: Size,
  target: JpegTarget,
): Promise<'decoded' | 'every row' | 'rows missing'> {
  // A pattern that no image ends with tells whether the last row was decoded.
  const pattern = (i: number): number => (i * 89) & 255;
  const lastRowAt = (height - 1) * target.stride;
  const lastRow = target.bytes.subarray(lastRowAt, lastRowAt + width * target.channels);
  for (let i = 0; i < lastRow.length; i++) lastRow[i] = pattern(i);
  if ((await decodeTurboJpeg(jpeg, target)) === 'decoded') return 'decoded';
  return lastRow.some((value, i) => value !== pattern(i)) ? 'every row' : 'rows missing';
}

/**
 * Whether a JPEG of which every row was decoded needs the last bytes before its end marker. If it does not, too many are
 * left over: where data is damaged, pixels go missing without any other sign.
 */
async function isPadded(jpeg: Uint8Array, size: Size): Promise<boolean> {
  const shorter = jpeg.subarray(0, Math.max(0, endOf(jpeg) - maxPaddingBytes));
  const bytes = new Uint8Array(size.width * size.height);
  return (await decodeRows(shorter, size, { bytes, stride: size.width, channels: 1 })) === 'rows missing';
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
    pixel: 'u8',
    readsRegions: false,
    inputBytes: jpeg.length,
    async decode(region: Rect, to: PlaneTarget): Promise<void> {
      checkDecodeRequest(opened, region, to);
      const decoded = decodeJpeg(jpeg, to);
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
