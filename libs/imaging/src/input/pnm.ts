import { checkDecodeRequest } from './decode-request.ts';
import { InputError } from './input-error.ts';
import type { InputFile } from './input-file.ts';
import { writeLuma } from './luma.ts';
import type { OpenImage } from './open-image.ts';
import { checkHasPixels, checkWholePixels } from './pixel-limit.ts';
import { type PnmHeader, readPnmHeader } from './pnm-header.ts';
import { decodePlainPnm } from './pnm-plain.ts';
import type { Rect } from './rect.ts';

/** Rows that lie together are read in pieces of this size, several at once. */
const bandBytes = 2 ** 20;
const readsInFlight = 8;

/**
 * Takes `file` over and keeps it open. The first image of a file; samples are used as stored, whatever the largest value
 * the header allows. Binary files (P5, P6) are read by region, plain ones (P2, P3) whole.
 */
export async function openPnm(file: InputFile, maxWholePixels: number): Promise<OpenImage> {
  const header = readPnmHeader(file.head);
  const { width, height, channels, isPlain, dataStart } = header;
  checkHasPixels(width, height);
  if (isPlain) checkWholePixels(width, height, maxWholePixels);
  const samples = width * height * channels;
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
    readsRegions: !isPlain,
    get inputBytes() {
      return file.bytesRead;
    },
    async decode(region: Rect, target: Uint8Array, offset: number, stride: number): Promise<void> {
      checkDecodeRequest(opened, region, target, offset, stride);
      if (isPlain) await decodePlainPnm(file, header, target, offset, stride);
      else await decodeBinary(file, header, region, target, offset, stride);
    },
    close: () => file.close(),
  };
  return opened;
}

async function decodeBinary(
  file: InputFile,
  { width, channels, dataStart }: PnmHeader,
  region: Rect,
  target: Uint8Array,
  offset: number,
  stride: number,
): Promise<void> {
  const bandRows = region.width === width ? Math.max(1, Math.floor(bandBytes / (width * channels))) : 1;
  const decodeBand = async (top: number): Promise<void> => {
    const rows = Math.min(bandRows, region.height - top);
    const to = offset + top * stride;
    const length = rows * region.width * channels;
    const isStraight = channels === 1 && (rows === 1 || stride === width);
    const samples = isStraight ? target.subarray(to, to + length) : Buffer.allocUnsafe(length);
    await file.read(samples, dataStart + ((region.y + top) * width + region.x) * channels);
    if (isStraight) return;
    for (let row = 0; row < rows; row++) {
      const from = row * region.width * channels;
      if (channels === 3) writeLuma(samples, from, target, to + row * stride, region.width);
      else target.set(samples.subarray(from, from + region.width), to + row * stride);
    }
  };
  let next = 0;
  const readers = Array.from({ length: readsInFlight }, async () => {
    while (next < region.height) {
      const top = next;
      next += bandRows;
      await decodeBand(top);
    }
  });
  // All of them, so that nothing writes to `target` any more when this is over.
  const failure = (await Promise.allSettled(readers)).find((result) => result.status === 'rejected');
  if (failure) throw failure.reason;
}
