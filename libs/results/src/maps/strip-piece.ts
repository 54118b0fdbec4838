import type { FileHandle } from 'node:fs/promises';
import type { Size } from '@halogrid/geometry';
import { bitsOf, type MapType } from '../layout/map-type.ts';

/**
 * Fills `piece`, which is `pieceWidth` wide and as high as the strip, with the pixels of a strip from column `x` on; 0
 * beyond the strip. The strip has its bands one after another, while the piece has the bands of each pixel together.
 */
export function cutPiece(
  strip: Uint8Array,
  { width, height }: Size,
  { sample, bands }: MapType,
  x: number,
  pieceWidth: number,
  piece: Uint8Array,
): void {
  const columns = Math.min(pieceWidth, width - x);
  if (columns < pieceWidth) piece.fill(0);
  const from = bitsOf(strip, sample);
  const to = bitsOf(piece, sample);
  for (let band = 0; band < bands; band++) {
    for (let y = 0; y < height; y++) {
      let at = (band * height + y) * width + x;
      let into = y * pieceWidth * bands + band;
      if (bands === 1) {
        to.set(from.subarray(at, at + columns), into);
        continue;
      }
      for (const end = at + columns; at < end; at++, into += bands) to[into] = from[at]!;
    }
  }
}

/** Writes all bytes at a position. The system may accept only a part of them at a time. */
export async function writeFully(file: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done, position + done);
    done += bytesWritten;
  }
}
