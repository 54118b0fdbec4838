import { writeLuma } from './luma.ts';
import type { PlaneTarget } from './plane-target.ts';
import { splitRgb } from './split-rgb.ts';

/** Pixels as decoders give them: gray or interleaved RGB, from the first byte, rows without gaps. */
export interface Samples {
  bytes: Uint8Array;
  channels: 1 | 3;
  width: number;
  rows: number;
}

/** Writes `samples` as the planes that `to` asks for. */
export function writeRows({ bytes, channels, width, rows }: Samples, to: PlaneTarget): void {
  // Rows that have no gaps in the target either are one long row.
  const [runs, pixels] = to.stride === width ? [1, rows * width] : [rows, width];
  for (let run = 0; run < runs; run++) {
    const from = run * pixels * channels;
    const start = to.offset + run * to.stride;
    if (channels === 1) writeGray(bytes.subarray(from, from + pixels), to, start);
    else if (to.channels === 'gray') writeLuma(bytes, from, to.bytes, start, pixels);
    else splitRgb(bytes, from, to.bytes, start, to.planeBytes, pixels);
  }
}

function writeGray(gray: Uint8Array, to: PlaneTarget, start: number): void {
  const planes = to.channels === 'gray' ? 1 : 3;
  for (let plane = 0; plane < planes; plane++) to.bytes.set(gray, start + plane * to.planeBytes);
}
