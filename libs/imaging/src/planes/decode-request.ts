import { type PixelType, type Rect, sampleBytes } from '@halogrid/geometry';
import { type PlaneTarget, planesOf } from './plane-target.ts';

interface Readable {
  readonly width: number;
  readonly height: number;
  readonly pixel: PixelType;
  readonly readsRegions: boolean;
  readonly grayPlanes?: number | undefined;
}

/** Throws RangeError if a caller asks for pixels that the image lacks, or would have them written outside `to`. */
export function checkDecodeRequest(image: Readable, region: Rect, to: PlaneTarget): void {
  const { x, y, width, height } = region;
  const inside =
    [x, y, width, height].every(Number.isInteger) &&
    x >= 0 &&
    y >= 0 &&
    width > 0 &&
    height > 0 &&
    x + width <= image.width &&
    y + height <= image.height;
  const whole = width === image.width && height === image.height;
  if (!inside || !(whole || image.readsRegions)) {
    const allowed = image.readsRegions ? 'a region inside' : 'the whole of';
    throw new RangeError(
      `Expected ${allowed} the ${image.width}x${image.height} image but received ${width}x${height} at (${x}, ${y})`,
    );
  }
  checkTarget(width, height, to, image.pixel, image.grayPlanes);
}

/**
 * Throws RangeError if `width` x `height` pixels would be written outside `to`, planes over one another, or 16-bit
 * pixels to odd addresses.
 */
export function checkTarget(
  width: number,
  height: number,
  to: PlaneTarget,
  pixel: PixelType = 'u8',
  grayPlanes = 1,
): void {
  const { bytes, offset, stride, channels, planeBytes } = to;
  const unit = sampleBytes[pixel];
  const planes = channels === 'gray' ? grayPlanes : planesOf(channels);
  if ([bytes.byteOffset + offset, stride, planes === 1 ? 0 : planeBytes].some((place) => place % unit !== 0)) {
    throw new RangeError(`Expected 16-bit pixels at even addresses but received offset ${offset}, stride ${stride}`);
  }
  const planeEnd = (height - 1) * stride + width * unit;
  if (!Number.isInteger(offset + stride) || offset < 0 || stride < width * unit || offset + planeEnd > bytes.length) {
    throw new RangeError(
      `Expected room for ${height} rows of ${width} pixels of ${unit} bytes, ${stride} bytes apart, from byte ${offset} but received ${bytes.length} bytes`,
    );
  }
  if (planes === 1) return;
  const end = offset + (planes - 1) * planeBytes + planeEnd;
  if (!Number.isInteger(planeBytes) || planeBytes < planeEnd || end > bytes.length) {
    throw new RangeError(
      `Expected room for ${planes} planes of ${planeEnd} bytes, ${planeBytes} bytes apart, from byte ${offset} but received ${bytes.length} bytes`,
    );
  }
}
