import { type Rect, sampleBytes } from '@halogrid/geometry';
import { InputError, type InputFile } from '@halogrid/sources';
import { forEachLimited, limitConcurrency, poolThreads } from '@halogrid/threads';
import { checkHasPixels, checkWholePixels } from '../pixel-limit.ts';
import { checkDecodeRequest } from '../planes/decode-request.ts';
import type { OpenImage } from '../planes/image.ts';
import { asPixels, below, type PlaneTarget } from '../planes/plane-target.ts';
import { writeRows } from '../planes/write-rows.ts';
import { type PnmHeader, readPnmHeader } from './pnm-header.ts';

/** Rows that lie together are read in pieces of this size, several at once: a frame of 1080p in one. */
const bandBytes = 2 ** 22;
const readsInFlight = 8;

/**
 * Reads of all local images, on half of the threads that could: copying to upload memory is bound by that memory, so
 * more threads only take cores from other work. Measured on 16 cores with an H200, frames of 13.7 MB a second: 1,430 to
 * 1,560 on all, 1,710 to 1,760 on half.
 */
const reading = limitConcurrency(Math.ceil(poolThreads() / 2));

/**
 * Takes `file` over and keeps it open. The first image of a file; samples are used as stored, whatever the largest
 * value the header allows. Binary files (P5, P6) are read by region, plain ones (P2, P3) whole.
 */
export async function openPnm(file: InputFile, maxWholePixels: number): Promise<OpenImage> {
  const header = readPnmHeader(file.head);
  const { width, height, channels, pixel, isPlain, dataStart } = header;
  checkHasPixels(width, height);
  if (isPlain) checkWholePixels(width, height, maxWholePixels);
  const samples = width * height * channels * sampleBytes[pixel];
  if (!isPlain && dataStart + samples > file.sizeBytes) {
    throw new InputError(
      'decode',
      `The file is truncated: ${width}x${height} pixels take ${samples} bytes but it holds ${file.sizeBytes - dataStart}`,
    );
  }
  const opened: OpenImage = {
    format: 'pnm',
    width,
    height,
    pixel,
    readsRegions: !isPlain,
    get inputBytes() {
      return file.bytesRead;
    },
    async decode(region: Rect, to: PlaneTarget): Promise<void> {
      checkDecodeRequest(opened, region, to);
      if (isPlain) await decodePlainPnm(file, header, to);
      else await decodeBinary(file, header, region, to);
    },
    close: () => file.close(),
  };
  return opened;
}

async function decodeBinary(
  file: InputFile,
  { width, channels, pixel, dataStart }: PnmHeader,
  region: Rect,
  to: PlaneTarget,
): Promise<void> {
  const pixelBytes = channels * sampleBytes[pixel];
  const rowBytes = width * pixelBytes;
  const regionBytes = region.width * pixelBytes;
  const limitReads: typeof reading = file.kind === 'local' ? reading : (read) => read();
  const skipsNothing = rowBytes - regionBytes <= file.gapBytes;
  const bandRows = skipsNothing ? Math.max(1, Math.floor(bandBytes / rowBytes)) : 1;
  const decodeBand = async (top: number): Promise<void> => {
    const rows = Math.min(bandRows, region.height - top);
    const band = below(to, top);
    const length = (rows - 1) * rowBytes + regionBytes;
    const start = dataStart + (region.y + top) * rowBytes + region.x * pixelBytes;
    const isGray = channels === 1 && to.channels === 'gray';
    const isDense = rows === 1 || (rowBytes === regionBytes && to.stride === rowBytes);
    if (isGray && !isDense && file.kind === 'local') {
      // This takes a third of the time of reading all and copying rows, and a fifth of it on the main thread
      // (measured).
      const targets = Array.from({ length: rows }, (_, row) => {
        const at = band.offset + row * to.stride;
        return to.bytes.subarray(at, at + regionBytes);
      });
      await limitReads(() => file.readRows(targets, start, rowBytes));
      if (pixel === 'u16') targets.forEach(swap);
      return;
    }
    const isStraight = isGray && isDense;
    const bytes = isStraight ? to.bytes.subarray(band.offset, band.offset + length) : Buffer.allocUnsafe(length);
    await limitReads(() => file.read(bytes, start));
    if (pixel === 'u16') swap(bytes);
    if (isStraight) return;
    if (rowBytes === regionBytes) return writeRows({ pixels: asPixels(bytes, pixel), channels, width, rows }, band);
    for (let row = 0; row < rows; row++) {
      const samples = bytes.subarray(row * rowBytes, row * rowBytes + regionBytes);
      writeRows({ pixels: asPixels(samples, pixel), channels, width: region.width, rows: 1 }, below(band, row));
    }
  };
  const bands = Array.from({ length: Math.ceil(region.height / bandRows) }, (_, band) => band * bandRows);
  await forEachLimited(bands, readsInFlight, decodeBand);
}

/** Files have the upper byte first. */
function swap(samples: Uint8Array): void {
  Buffer.from(samples.buffer, samples.byteOffset, samples.length).swap16();
}

const pieceBytes = 2 ** 20;

/**
 * Decodes the decimal numbers of a P2 or P3 file, piece by piece, into the planes of `to`. White space and `#` comments
 * separate them; what follows the last one is ignored. Rejects with InputError.
 */
export async function decodePlainPnm(
  file: InputFile,
  { width, height, channels, maxval, pixel, dataStart }: PnmHeader,
  to: PlaneTarget,
): Promise<void> {
  const row = pixel === 'u8' ? new Uint8Array(width * channels) : new Uint16Array(width * channels);
  let filled = 0;
  let y = 0;
  const take = (sample: number): void => {
    if (sample > maxval) {
      throw new InputError(
        'decode',
        `The value ${sample} in row ${y} is above ${maxval}, the largest that the header allows`,
      );
    }
    row[filled++] = sample;
    if (filled < row.length) return;
    writeRows({ pixels: row, channels, width, rows: 1 }, below(to, y));
    filled = 0;
    y++;
  };
  let sample = -1;
  let isComment = false;
  for (let position = dataStart; y < height && position < file.sizeBytes; position += pieceBytes) {
    const bytes = Buffer.allocUnsafe(Math.min(pieceBytes, file.sizeBytes - position));
    await file.read(bytes, position);
    for (let i = 0; i < bytes.length && y < height; i++) {
      const byte = bytes[i]!;
      const isLineEnd = byte === 0x0a || byte === 0x0d;
      if (isComment) {
        isComment = !isLineEnd;
      } else if (byte >= 0x30 && byte <= 0x39) {
        sample = Math.max(sample, 0) * 10 + byte - 0x30;
      } else if (isLineEnd || byte === 0x20 || byte === 0x09 || byte === 0x0b || byte === 0x0c || byte === 0x23) {
        if (sample >= 0) take(sample);
        sample = -1;
        isComment = byte === 0x23;
      } else {
        throw new InputError(
          'decode',
          `Expected a number at byte ${position + i} but found byte 0x${byte.toString(16)}`,
        );
      }
    }
  }
  if (y < height && sample >= 0) take(sample);
  if (y < height) {
    throw new InputError(
      'decode',
      `The file is truncated: row ${y} of ${height} ends after ${filled} of ${row.length} values`,
    );
  }
}
