import { type PixelType, type Size, sampleBytes, splitRgb, writeLuma } from '@halogrid/geometry';
import { ParameterError } from '../kernel/parameter-error.ts';
import type { CopyRect } from '../pipeline/halo.ts';
import type { Pipeline } from '../pipeline/pipeline.ts';
import type { PipelineItem } from '../pipeline/pipeline-item.ts';
import { shown } from './check-call.ts';
import type { Picture } from './types.ts';

/** A checked picture, with the layout of its samples. */
export interface Image extends Size {
  readonly data: Picture['data'];
  readonly pixel: PixelType;
  /** Samples per pixel: 1 for gray, 3 for RGB, 4 for RGBA. */
  readonly step: 1 | 3 | 4;
}

/** The counts of a histogram are u32: more pixels might not fit. */
const mostPixels = 2 ** 32 - 1;
const steps = [1, 3, 4] as const;

/** Throws ParameterError unless it is a picture. */
export function imageOfPicture({ data, width, height }: Picture): Image {
  for (const [name, side] of Object.entries({ width, height })) {
    if (!(Number.isInteger(side) && side > 0))
      throw new ParameterError(`the ${name} of a picture`, shown(side), 'pixels from 1');
  }
  const pixels = width * height;
  if (pixels > mostPixels)
    throw new ParameterError('a picture', `${width} x ${height}`, `at most ${mostPixels} pixels`);
  const isDeep = data instanceof Uint16Array;
  if (!isDeep && !(data instanceof Uint8Array || data instanceof Uint8ClampedArray)) {
    const types = 'a Uint8Array, Uint8ClampedArray or Uint16Array';
    throw new ParameterError('the data of a picture', shown(data), types);
  }
  const step = steps.find((samples) => samples * pixels === data.length);
  if (!step) {
    const allowed = `${pixels} (gray), ${3 * pixels} (RGB) or ${4 * pixels} (RGBA) samples`;
    throw new ParameterError(`a picture of ${width} x ${height} pixels`, data.length, allowed);
  }
  return { data, width, height, pixel: isDeep ? 'u16' : 'u8', step };
}

/** Writes parts of an image to their places in the planes of an item. */
export function fillPlanes(
  { data, width, pixel, step }: Image,
  { input }: Pipeline,
  copies: readonly CopyRect[],
  bytes: Uint8Array,
  { offset, stride, planeBytes }: PipelineItem,
): void {
  const unit = sampleBytes[pixel];
  const target = unit === 1 ? bytes : new Uint16Array(bytes.buffer, bytes.byteOffset, bytes.length >> 1);
  const planeStep = planeBytes / unit;
  for (const { from, to } of copies) {
    for (let row = 0; row < from.height; row++) {
      const at = ((from.y + row) * width + from.x) * step;
      const start = (offset + (to.y + row) * stride) / unit + to.x;
      if (step === 1) {
        const gray = data.subarray(at, at + from.width);
        for (let plane = 0; plane < input.length; plane++) target.set(gray, start + plane * planeStep);
      } else if (input.length === 1) writeLuma(data, at, target, start, from.width, step);
      else splitRgb(data, at, target, start, planeStep, from.width, step);
    }
  }
}
