import { writeLuma } from './luma.ts';
import { asPixels, type Pixels } from './pixels.ts';
import type { PlaneTarget } from './plane-target.ts';
import { splitDeepRgb, splitRgb } from './split-rgb.ts';

/** Pixels as decoders give them: gray or interleaved RGB, from the first one, rows without gaps. */
export interface Samples {
  pixels: Pixels;
  channels: 1 | 3;
  width: number;
  rows: number;
}

/** Writes `samples` as the planes that `to` asks for, of pixels of the same type. */
export function writeRows({ pixels, channels, width, rows }: Samples, to: PlaneTarget): void {
  const unit = pixels.BYTES_PER_ELEMENT;
  const target = asPixels(to.bytes, unit === 1 ? 'u8' : 'u16');
  const planeStep = to.planeBytes / unit;
  // Rows that have no gaps in the target either are one long row.
  const [runs, length] = to.stride === width * unit ? [1, rows * width] : [rows, width];
  for (let run = 0; run < runs; run++) {
    const from = run * length * channels;
    const start = (to.offset + run * to.stride) / unit;
    if (channels === 1) {
      const gray = pixels.subarray(from, from + length);
      for (let plane = 0; plane < (to.channels === 'gray' ? 1 : 3); plane++)
        target.set(gray, start + plane * planeStep);
    } else if (to.channels === 'gray') writeLuma(pixels, from, target, start, length);
    else if (unit === 1) splitRgb(pixels as Uint8Array, from, to.bytes, start, planeStep, length);
    else splitDeepRgb(pixels, from, target, start, planeStep, length);
  }
}
