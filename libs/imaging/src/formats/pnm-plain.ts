import { InputError, type InputFile } from '@halogrid/sources';
import { below, type PlaneTarget } from '../planes/plane-target.ts';
import { writeRows } from '../planes/write-rows.ts';
import type { PnmHeader } from './pnm-header.ts';

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
