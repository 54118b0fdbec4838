import { unpackEntry } from '../frame/entry.ts';
import { type JpegFrame, lumaBlocks } from '../frame/jpeg-frame.ts';
import { groupBlocks } from '../frame/passes.ts';
import { status } from '../frame/status.ts';
import { zigzag } from '../frame/zigzag.ts';
import { inverseDct } from './inverse-dct.ts';
import type { Coefficients } from './write-entries.ts';

/**
 * Transforms all blocks of luma and writes the pixels inside the image, rows without gaps. Returns its findings, as in
 * `status`.
 */
export function writePixels(frame: JpegFrame, { entries, starts }: Coefficients, to: Uint8Array): number {
  let found = 0;
  const blocks = new Int32Array(64 * groupBlocks);
  const pixels = new Uint8Array(64);
  const count = lumaBlocks(frame);
  for (let group = 0; group * groupBlocks < count; group++) {
    blocks.fill(0);
    for (const entry of entries.subarray(starts[group], starts[group + 1])) {
      const { block, place, value } = unpackEntry(entry);
      blocks[64 * block + zigzag[place]!] = value * frame.quantisers[place]!;
    }
    for (let i = 0; i < groupBlocks && group * groupBlocks + i < count; i++) {
      if (!inverseDct(blocks.subarray(64 * i, 64 * i + 64), pixels)) found |= status.outOfRange;
      copyBlock(frame, group * groupBlocks + i, pixels, to);
    }
  }
  return found;
}

/**
 * The position in the image of a luma block, by its index in the file; y is negative for blocks before the first pixel.
 */
export function placeOfBlock(frame: JpegFrame, block: number): { x: number; y: number } {
  const { lumaAcross, lumaDown, mcusAcross, skippedMcus } = frame;
  const inMcu = block % (lumaAcross * lumaDown);
  const mcu = (block - inMcu) / (lumaAcross * lumaDown) - skippedMcus;
  return {
    x: 8 * ((Math.max(0, mcu) % mcusAcross) * lumaAcross + (inMcu % lumaAcross)),
    y: 8 * (Math.floor(mcu / mcusAcross) * lumaDown + Math.floor(inMcu / lumaAcross)),
  };
}

function copyBlock(frame: JpegFrame, block: number, pixels: Uint8Array, to: Uint8Array): void {
  const { x, y } = placeOfBlock(frame, block);
  if (y < 0) return;
  const across = Math.min(8, frame.width - x);
  for (let row = 0; row < 8 && y + row < frame.height; row++) {
    if (across > 0) to.set(pixels.subarray(8 * row, 8 * row + across), (y + row) * frame.width + x);
  }
}
