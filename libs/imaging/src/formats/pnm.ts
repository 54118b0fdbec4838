import { type Rect, sampleBytes } from '@halogrid/geometry';
import { InputError, type InputFile } from '@halogrid/sources';
import { forEachLimited, limitConcurrency, poolThreads } from '@halogrid/threads';
import type { OpenImage } from '../open-image.ts';
import { checkHasPixels, checkWholePixels } from '../pixel-limit.ts';
import { checkDecodeRequest } from '../planes/decode-request.ts';
import { asPixels } from '../planes/pixels.ts';
import { below, type PlaneTarget } from '../planes/plane-target.ts';
import { writeRows } from '../planes/write-rows.ts';
import { type PnmHeader, readPnmHeader } from './pnm-header.ts';
import { decodePlainPnm } from './pnm-plain.ts';

/** Rows that lie together are read in pieces of this size, several at once: a frame of 1080p in one. */
const bandBytes = 2 ** 22;
const readsInFlight = 8;

/**
 * Reads of all local images, on half of the threads that could: copying to upload memory is bound by that memory, and more only take
 * processors from everyone else. Measured on 16 cores with an H200, frames of 13.7 MB a second: 1,430 to 1,560 on all, 1,710 to
 * 1,760 on half.
 */
const reading = limitConcurrency(Math.ceil(poolThreads() / 2));

/**
 * Takes `file` over and keeps it open. The first image of a file; samples are used as stored, whatever the largest value
 * the header allows. Binary files (P5, P6) are read by region, plain ones (P2, P3) whole.
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
      // A third of the time of reading all and copying rows, and a fifth of it on the main thread (measured).
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
