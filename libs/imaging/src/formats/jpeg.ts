import { open } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import type { Rect, Size } from '@halogrid/geometry';
import { giveBackBytes, InputError, type InputFile, takeBytes } from '@halogrid/sources';
import { jpegTime } from '../captured/jpeg-time.ts';
import { checkWholePixels } from '../pixel-limit.ts';
import { checkDecodeRequest, checkTarget } from '../planes/decode-request.ts';
import type { ImageCopy, OpenImage } from '../planes/image.ts';
import { type PlaneTarget, planesOf } from '../planes/plane-target.ts';
import { writeRows } from '../planes/write-rows.ts';
import { type ReadJpeg, readJpeg, versionsOf } from './jpeg-header.ts';
import { whyRefused } from './jpeg-verdict.ts';
import { sayOtherJpegs } from './other-jpegs.ts';
import { decodeTurboJpeg, limitDecodes } from './turbojpeg.ts';

/** The largest file: it is held whole while it is decoded. 2^28 pixels take a tenth of this at the usual qualities. */
const maxFileBytes = 2 ** 30;

/** The most pixels that are decoded at once to copy an image. For each such band, all rows above it are read again. */
const bandPixels = 2 ** 26;

/**
 * The most pixels for each byte of a file in one scan: Huffman codes spend at least a bit on the mean of 8 x 8 pixels,
 * and a bit on the rest.
 */
const mostPixelsPerByte = 256;

/**
 * Decodes a whole JPEG into the planes of `to`, on a thread of libuv's pool. Luma is the Y plane as libjpeg decodes it
 * to grayscale, or the luma of RGB, without a copy. RGB is libjpeg's default, with smooth upsampling of the chroma.
 * `jpeg` and `to` must not change until the promise settles. If bytes do not belong to the JPEG (see mend-jpeg.ts), it
 * resolves with a sentence that says what was removed. Rejects with InputError for data that is damaged or ends early,
 * which is every other warning of libjpeg.
 */
export async function decodeJpeg(jpeg: Uint8Array, to: PlaneTarget): Promise<string | undefined> {
  return await decodeRead(readJpeg(jpeg), to);
}

/** As decodeJpeg, but resolves with whether no bytes had to be removed and libjpeg gives no warning at all. */
export async function decodeSoundJpeg(jpeg: Uint8Array, to: PlaneTarget): Promise<boolean> {
  const { width, height, mended } = readJpeg(jpeg);
  checkTarget(width, height, to);
  return mended === undefined && (await limitDecodes(() => decodePlanes(jpeg, { width, height }, to)));
}

async function decodeRead(jpeg: ReadJpeg, to: PlaneTarget): Promise<string | undefined> {
  checkTarget(jpeg.width, jpeg.height, to);
  for await (const { bytes, mended } of versionsInTurns(jpeg)) {
    if (await limitDecodes(() => decodePlanes(bytes, jpeg, to))) return mended;
  }
  throw new InputError('decode', whyRefused(jpeg.file));
}

/** As versionsOf, but lets other tasks of this thread run between the versions. */
async function* versionsInTurns(jpeg: ReadJpeg): AsyncGenerator<Pick<ReadJpeg, 'bytes' | 'mended'>> {
  for (const version of versionsOf(jpeg)) {
    if (version) yield version;
    else await setImmediate();
  }
}

/** Resolves with whether libjpeg gives no warning. */
async function decodePlanes(jpeg: Uint8Array, { width, height }: Size, to: PlaneTarget): Promise<boolean> {
  if (to.channels === 'gray') {
    return decodeTurboJpeg(jpeg, { bytes: to.bytes.subarray(to.offset), stride: to.stride, channels: 1 });
  }
  const bytes = takeBytes(3 * width * height);
  try {
    const isGood = await decodeTurboJpeg(jpeg, { bytes, stride: 3 * width, channels: 3 });
    if (isGood) writeRows({ pixels: bytes, channels: 3, width, rows: height }, to);
    return isGood;
  } finally {
    giveBackBytes(bytes);
  }
}

/** Takes `file` over and reads it whole. */
export async function openJpeg(file: InputFile, maxWholePixels: number): Promise<OpenImage> {
  if (file.sizeBytes > maxFileBytes) {
    throw new InputError('decode', `The JPEG file has ${file.sizeBytes} bytes: at most ${maxFileBytes} are read`);
  }
  const all = await file.readAll();
  const jpeg = readJpeg(all);
  const { width, height, bytes } = jpeg;
  const isLarge = width * height > maxWholePixels;
  if (isLarge) checkLarge(bytes, jpeg, maxWholePixels);
  const captured = jpegTime(bytes);
  const others = sayOtherJpegs(bytes);
  let { mended } = jpeg;
  let decoding: Promise<unknown> = Promise.resolve();
  const opened: OpenImage = {
    format: 'jpeg',
    width,
    height,
    pixel: 'u8',
    readsRegions: false,
    inputBytes: all.length,
    get mended() {
      return mended && others ? `${mended}; ${others}` : (mended ?? others);
    },
    captured,
    async decode(region: Rect, to: PlaneTarget): Promise<void> {
      checkDecodeRequest(opened, region, to);
      checkWholePixels(width, height, maxWholePixels);
      const decoded = decodeRead(jpeg, to);
      decoding = Promise.allSettled([decoding, decoded]);
      mended = await decoded;
    },
    copy: isLarge
      ? copyOf(jpeg, Math.min(bandPixels, maxWholePixels), (found) => {
          mended = found;
        })
      : undefined,
    async close(): Promise<void> {
      // The next file takes over the memory that is being decoded.
      await decoding;
      await file.close();
    },
  };
  return opened;
}

/** Throws InputError for a JPEG that cannot be decoded in parts. */
function checkLarge(jpeg: Uint8Array, { width, height }: Size, maxWholePixels: number): void {
  if (!isOfOneScan(jpeg)) {
    const limit = `the ${maxWholePixels} that are held of a JPEG in several scans, as progressive ones are`;
    checkWholePixels(width, height, maxWholePixels, limit);
  }
  // A file that claims more pixels than its bytes can hold is refused before memory is taken for it.
  checkWholePixels(width, height, mostPixelsPerByte * jpeg.length, `a file of ${jpeg.length} bytes can hold`);
}

/**
 * The copy is a binary PGM of the Y plane, or a binary PPM of RGB. It is written in bands of at most `pixels` pixels,
 * but at least one row. `tell` is called with the sentence that says what was removed from the file, if anything was.
 */
function copyOf(jpeg: ReadJpeg, pixels: number, tell: (mended: string | undefined) => void): ImageCopy {
  const { width, height } = jpeg;
  return {
    bytes: (channels) => width * height * planesOf(channels),
    async write(path, channels) {
      const samples = planesOf(channels);
      const stride = samples * width;
      const bandRows = Math.max(1, Math.floor(pixels / width));
      const versions = versionsInTurns(jpeg);
      let version = await versions.next();
      const file = await open(path, 'wx');
      try {
        await file.appendFile(`P${samples === 1 ? 5 : 6}\n${width} ${height}\n255\n`);
        const target = { bytes: new Uint8Array(stride * Math.min(bandRows, height)), stride, channels: samples };
        for (let y = 0; y < height; y += bandRows) {
          const rows = { y, width, height: Math.min(bandRows, height - y) };
          const decode = (bytes: Uint8Array) => limitDecodes(() => decodeTurboJpeg(bytes, target, rows));
          // A band that decodes without a warning is the same in every version.
          while (!version.done && !(await decode(version.value.bytes))) version = await versions.next();
          if (version.done) throw new InputError('decode', whyRefused(jpeg.file));
          await file.appendFile(target.bytes.subarray(0, stride * rows.height));
        }
        tell(version.done ? undefined : version.value.mended);
      } finally {
        await file.close();
      }
    },
  };
}

/** Markers of frames whose scans are decoded as they come: baseline, extended, and extended with arithmetic codes. */
const sequentialFrames = new Set([0xc0, 0xc1, 0xc9]);
/** Markers of all other frames; C4, C8 and CC do not begin a frame. */
const otherFrames = new Set([0xc2, 0xc3, 0xc5, 0xc6, 0xc7, 0xca, 0xcb, 0xcd, 0xce, 0xcf]);
const startOfScan = 0xda;

/**
 * Whether a JPEG has all of its components in one scan and is not progressive. For other JPEGs a decoder holds the
 * coefficients of the whole image, 2 bytes or more a sample, until the last scan has come.
 */
export function isOfOneScan(jpeg: Uint8Array): boolean {
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
    at += 2 + ((jpeg[at + 2]! << 8) | jpeg[at + 3]!);
  }
  return false;
}
