import { type BitPlane, greatest, type PixelType, type Size, sampleBytes, setBit } from '@halogrid/geometry';
import type { SampleRange } from './image.ts';
import { asPixels, type NoDataTarget, type PlaneTarget, planesOf } from './plane-target.ts';

/** Whether a sample stands for no value. NaN always does. */
export const isNoData = (sample: number, value: number): boolean => sample === value || Number.isNaN(sample);

/** A typed array of samples. */
type Samples = ArrayLike<number> & Pick<Uint8Array, 'indexOf'>;

/** Samples of pixels: `channels` side by side, rows without gaps. */
export interface MarkedSamples {
  pixels: Samples;
  channels: number;
  width: number;
  rows: number;
}

/** Marks the pixels whose samples all stand for no value. */
export function markNoData(
  { pixels, channels, width, rows }: MarkedSamples,
  { value, planes: [plane], x, y }: NoDataTarget,
): void {
  const isInteger = !(pixels instanceof Float32Array || pixels instanceof Float64Array);
  if (channels === 1 && isInteger) {
    markGray({ pixels, width, rows }, value, { plane: plane!, x, y });
    return;
  }
  for (let row = 0, at = 0; row < rows; row++) {
    for (let column = 0; column < width; column++, at += channels) {
      let channel = 0;
      while (channel < channels && isNoData(pixels[at + channel]!, value)) channel++;
      if (channel === channels) setBit(plane!, x + column, y + row);
    }
  }
}

/**
 * Most rows have no such pixel: `indexOf` passes over them ten times as fast as a loop (measured). The bits of others
 * are gathered, because writing a word for each takes twice as long.
 */
function markGray(
  { pixels, width, rows }: { pixels: Samples; width: number; rows: number },
  value: number,
  { plane, x, y }: { plane: BitPlane; x: number; y: number },
): void {
  for (let first = pixels.indexOf(value); first >= 0; ) {
    const row = Math.floor(first / width);
    const end = (row + 1) * width;
    for (let at = first, column = x + first - row * width; at < end; ) {
      let bits = 0;
      const word = column >>> 5;
      for (; at < end && column >>> 5 === word; at++, column++) if (pixels[at] === value) bits |= 1 << (column & 31);
      if (bits !== 0) plane.words[(y + row) * plane.rowWords + word]! |= bits;
    }
    first = row + 1 < rows ? pixels.indexOf(value, end) : -1;
  }
}

/** Marks the pixels of decoded planes whose gray, or whose red, green and blue, all stand for no value. */
export function markPlanes({ width, height }: Size, to: PlaneTarget, pixel: PixelType, noData: NoDataTarget): void {
  const pixels = asPixels(to.bytes, pixel);
  const unit = sampleBytes[pixel];
  const [planes, planeStep] = [planesOf(to.channels), to.planeBytes / unit];
  for (let y = 0; y < height; y++) {
    for (let x = 0, at = (to.offset + y * to.stride) / unit; x < width; x++, at++) {
      let plane = 0;
      while (plane < planes && pixels[at + plane * planeStep] === noData.value) plane++;
      if (plane === planes) setBit(noData.planes[0]!, noData.x + x, noData.y + y);
    }
  }
}

/** The values of pixels of a type. */
export const rangeOf = (pixel: PixelType): SampleRange => ({ least: 0, most: greatest[pixel], isReal: false });

/** Whether any sample can have the value; false for NaN. */
export const canBeSample = (value: number, { least, most, isReal }: SampleRange): boolean =>
  (isReal || Number.isInteger(value)) && value >= least && value <= most;
