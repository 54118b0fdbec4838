import type { PixelType } from '@halogrid/geometry';

/**
 * Where decoded pixels go: pixel (x, y) of plane p is at byte offset + p * planeBytes + y * stride + x * b, where b is
 * 1, or 2 for an image of 16-bit pixels, which are little-endian, and lie at even addresses.
 */
export interface PlaneTarget {
  /** Plain or shared memory. */
  bytes: Uint8Array;
  /** Where the first pixel of the first plane is. */
  offset: number;
  /** Bytes from one row to the next: at least a row of what is decoded. */
  stride: number;
  /** One plane of luma, or the three planes red, green and blue, which are equal where the image is gray. */
  channels: 'gray' | 'rgb';
  /** Bytes from one plane to the next: at least those of a plane. It means nothing for 'gray'. */
  planeBytes: number;
}

/** How many planes a target of those channels has. */
export const planesOf = (channels: PlaneTarget['channels']): 1 | 3 => (channels === 'gray' ? 1 : 3);

/** What is left of a target below its first `rows` rows. */
export function below(to: PlaneTarget, rows: number): PlaneTarget {
  return { ...to, offset: to.offset + rows * to.stride };
}

/** Pixels in memory; those of 16 bits in the order of this machine. */
export type Pixels = Uint8Array | Uint16Array;

/** Bytes as pixels of that type. Throws RangeError where 16-bit ones would not lie on even addresses. */
export function asPixels(bytes: Uint8Array, type: PixelType): Pixels {
  return type === 'u8' ? bytes : new Uint16Array(bytes.buffer, bytes.byteOffset, bytes.length >> 1);
}
