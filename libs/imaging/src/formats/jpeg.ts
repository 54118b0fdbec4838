import { open } from 'node:fs/promises';
import type { Rect, Size } from '@halogrid/geometry';
import { giveBackBytes, InputError, type InputFile, takeBytes } from '@halogrid/sources';
import { jpegTime } from '../captured/jpeg-time.ts';
import { checkWholePixels } from '../pixel-limit.ts';
import { checkDecodeRequest, checkTarget } from '../planes/decode-request.ts';
import type { ImageCopy, OpenImage } from '../planes/image.ts';
import { type PlaneTarget, planesOf } from '../planes/plane-target.ts';
import { writeRows } from '../planes/write-rows.ts';
import { readJpegHeader } from './jpeg-header.ts';
import { type FoundRows, watchLastRow, whyDamaged, withoutPadding } from './jpeg-verdict.ts';
import { decodeTurboJpeg, type JpegRows, type JpegTarget, limitDecodes } from './turbojpeg.ts';

/** An encoded file is held whole while it is decoded. 2^28 pixels make a tenth of this at the usual qualities. */
const maxFileBytes = 2 ** 30;

/** Pixels decoded at once of an image that is copied, where so many may be. For each such band, what is above is read again. */
const bandPixels = 2 ** 26;

/** Pixels of a file in one scan at most for each of its bytes: Huffman codes spend a bit on the mean of 8 x 8, and one on the rest. */
const mostPixelsPerByte = 256;

/**
 * Decodes a whole JPEG into the planes of `to`, on a thread of libuv's pool: as luma the Y plane as libjpeg decodes it to
 * grayscale, or the luma of RGB, without a copy; as RGB what libjpeg makes of it by default, with smooth upsampling of the
 * chroma. `jpeg` and `to` must stay as they are until the promise settles. Rejects with InputError for data that is damaged
 * or ends early.
 *
 * Decoding stops at libjpeg's first warning. It is good all the same if every row was there by then and needed what comes at
 * most 64 bytes before the end marker: some cameras fill up a word or a cache line in front of it. What these bytes are nobody
 * asks.
 */
export async function decodeJpeg(jpeg: Uint8Array, to: PlaneTarget): Promise<void> {
  const size = readJpegHeader(jpeg);
  checkTarget(size.width, size.height, to);
  if (!(await limitDecodes(() => decodePlanes(jpeg, size, to)))) throw damaged(jpeg);
}

/**
 * The same, but resolves to whether libjpeg has nothing at all to warn of: with bytes before the end marker that it does not need, the
 * data of a part of a file may be damaged where the whole would show it.
 */
export async function decodeSoundJpeg(jpeg: Uint8Array, to: PlaneTarget): Promise<boolean> {
  const size = readJpegHeader(jpeg);
  checkTarget(size.width, size.height, to);
  return await limitDecodes(() => decodePlanes(jpeg, size, to, isSound));
}

const damaged = (jpeg: Uint8Array): InputError => new InputError('decode', whyDamaged(jpeg));

/** Resolves to whether the data is good. */
async function decodePlanes(
  jpeg: Uint8Array,
  size: Size,
  to: PlaneTarget,
  decode: (jpeg: Uint8Array, size: Size, target: JpegTarget) => Promise<boolean> = decodeGood,
): Promise<boolean> {
  const { width, height } = size;
  if (to.channels === 'gray') {
    return decode(jpeg, size, { bytes: to.bytes.subarray(to.offset), stride: to.stride, channels: 1 });
  }
  const bytes = takeBytes(3 * width * height);
  try {
    const isGood = await decode(jpeg, size, { bytes, stride: 3 * width, channels: 3 });
    if (isGood) writeRows({ pixels: bytes, channels: 3, width, rows: height }, to);
    return isGood;
  } finally {
    giveBackBytes(bytes);
  }
}

async function decodeGood(jpeg: Uint8Array, size: Size, target: JpegTarget, rows?: JpegRows): Promise<boolean> {
  const found = await decodeRows(jpeg, size, target, rows);
  if (found === 'decoded') return true;
  const hasLast = !rows || rows.y + rows.height === size.height;
  return found === 'every row' && hasLast && (await isPadded(jpeg, size, rows));
}

async function isSound(jpeg: Uint8Array, size: Size, target: JpegTarget): Promise<boolean> {
  return (await decodeRows(jpeg, size, target)) === 'decoded';
}

/** All rows, or those of `rows`. */
async function decodeRows(jpeg: Uint8Array, size: Size, target: JpegTarget, rows?: JpegRows): Promise<FoundRows> {
  const found = watchLastRow(rows ?? size, target);
  return found(await decodeTurboJpeg(jpeg, target, rows));
}

/**
 * Whether a JPEG of which every row was decoded needs the last bytes before its end marker. If it does not, too many are
 * left over: where data is damaged, pixels go missing without any other sign.
 */
async function isPadded(jpeg: Uint8Array, size: Size, rows?: JpegRows): Promise<boolean> {
  const { width, height } = rows ?? size;
  const bytes = new Uint8Array(width * height);
  return (await decodeRows(withoutPadding(jpeg), size, { bytes, stride: width, channels: 1 }, rows)) === 'rows missing';
}

/** Takes `file` over and reads it whole. */
export async function openJpeg(file: InputFile, maxWholePixels: number): Promise<OpenImage> {
  if (file.sizeBytes > maxFileBytes) {
    throw new InputError('decode', `The JPEG file has ${file.sizeBytes} bytes: at most ${maxFileBytes} are read`);
  }
  const jpeg = await file.readAll();
  const { width, height } = readJpegHeader(jpeg);
  const isLarge = width * height > maxWholePixels;
  if (isLarge) checkLarge(jpeg, { width, height }, maxWholePixels);
  const captured = jpegTime(jpeg);
  let decoding: Promise<unknown> = Promise.resolve();
  const opened: OpenImage = {
    format: 'jpeg',
    width,
    height,
    pixel: 'u8',
    readsRegions: false,
    inputBytes: jpeg.length,
    ...(captured && { captured }),
    async decode(region: Rect, to: PlaneTarget): Promise<void> {
      checkDecodeRequest(opened, region, to);
      checkWholePixels(width, height, maxWholePixels);
      const decoded = decodeJpeg(jpeg, to);
      decoding = Promise.allSettled([decoding, decoded]);
      await decoded;
    },
    ...(isLarge && { copy: copyOf(jpeg, { width, height }, Math.min(bandPixels, maxWholePixels)) }),
    async close(): Promise<void> {
      // The next file takes over the memory that is being decoded.
      await decoding;
      await file.close();
    },
  };
  return opened;
}

/** Throws InputError for a JPEG that cannot be decoded in parts. */
function checkLarge(jpeg: Buffer, { width, height }: Size, maxWholePixels: number): void {
  if (!isOfOneScan(jpeg)) {
    const limit = `the ${maxWholePixels} that are held of a JPEG in several scans, as progressive ones are`;
    checkWholePixels(width, height, maxWholePixels, limit);
  }
  // What claims more than it can hold is refused before anything is read for it.
  checkWholePixels(width, height, mostPixelsPerByte * jpeg.length, `a file of ${jpeg.length} bytes can hold`);
}

/** A copy is a binary PGM or PPM, as which a JPEG decodes: of its Y plane, or of RGB. It is made in bands of `pixels` at most, or a row. */
function copyOf(jpeg: Uint8Array, size: Size, pixels: number): ImageCopy {
  const { width, height } = size;
  return {
    bytes: (channels) => width * height * planesOf(channels),
    async write(path, channels) {
      const samples = planesOf(channels);
      const stride = samples * width;
      const bandRows = Math.max(1, Math.floor(pixels / width));
      const file = await open(path, 'wx');
      try {
        await file.appendFile(`P${samples === 1 ? 5 : 6}\n${width} ${height}\n255\n`);
        const bytes = new Uint8Array(stride * Math.min(bandRows, height));
        for (let y = 0; y < height; y += bandRows) {
          const rows = { y, width, height: Math.min(bandRows, height - y) };
          if (!(await limitDecodes(() => decodeGood(jpeg, size, { bytes, stride, channels: samples }, rows)))) {
            throw damaged(jpeg);
          }
          await file.appendFile(bytes.subarray(0, stride * rows.height));
        }
      } finally {
        await file.close();
      }
    },
  };
}

/** Markers of frames whose scans are decoded as they come: baseline, extended, and that with arithmetic codes. */
const sequentialFrames = new Set([0xc0, 0xc1, 0xc9]);
/** Those of all other frames; C4, C8 and CC are none. */
const otherFrames = new Set([0xc2, 0xc3, 0xc5, 0xc6, 0xc7, 0xca, 0xcb, 0xcd, 0xce, 0xcf]);
const startOfScan = 0xda;

/**
 * Whether a JPEG has all of its components in one scan and is not progressive. For others a decoder holds the coefficients of
 * the whole image, 2 bytes or more a sample, until the last scan has come.
 */
export function isOfOneScan(jpeg: Buffer): boolean {
  let components = 0;
  for (let at = 2; at + 9 < jpeg.length && jpeg[at] === 0xff; ) {
    const marker = jpeg[at + 1]!;
    // Any number of fill bytes may stand before a marker.
    if (marker === 0xff) {
      at++;
      continue;
    }
    if (otherFrames.has(marker)) return false;
    if (sequentialFrames.has(marker)) components = jpeg[at + 9]!;
    if (marker === startOfScan) return jpeg[at + 4] === components;
    at += 2 + jpeg.readUInt16BE(at + 2);
  }
  return false;
}
