import type { BitPlane, PixelType } from '@halogrid/geometry';

/**
 * Where decoded pixels go: pixel (x, y) of plane p is at byte offset + p * planeBytes + y * stride + x * b, where b is
 * 1, or 2 for 16-bit pixels. 16-bit pixels are little-endian and lie at even addresses.
 */
export interface PlaneTarget {
  /** Plain or shared memory. */
  bytes: Uint8Array;
  /** Where the first pixel of the first plane is. */
  offset: number;
  /** Bytes from one row to the next: at least a row of what is decoded. */
  stride: number;
  /**
   * One plane of luma, or the three planes red, green and blue, which are equal if the image is gray. If several bands
   * of an image are read, 'gray' is a plane for each.
   */
  channels: 'gray' | 'rgb';
  /** Bytes from one plane to the next, at least the size of a plane. It means nothing for a single plane. */
  planeBytes: number;
  /** Where pixels without a value are marked; absent: nowhere. */
  noData?: NoDataTarget | undefined;
}

/** Where pixels without a value are marked while an image is decoded. */
export interface NoDataTarget {
  /** The sample that stands for no value. */
  readonly value: number;
  /** One, or one for each band that is read; in shared memory, because a thread may decode. */
  readonly planes: readonly BitPlane[];
  /** Where the first decoded pixel is in each of them. */
  readonly x: number;
  readonly y: number;
}

/** The number of planes for these channels, unless several bands are read. */
export const planesOf = (channels: PlaneTarget['channels']): 1 | 3 => (channels === 'gray' ? 1 : 3);

/** The planes of a target from that one on. */
export function planesFrom(to: PlaneTarget, plane: number): PlaneTarget {
  if (plane === 0) return to;
  const noData = to.noData && { ...to.noData, planes: to.noData.planes.slice(plane) };
  return { ...to, offset: to.offset + plane * to.planeBytes, noData };
}

/** What is left of a target below its first `rows` rows. */
export function below(to: PlaneTarget, rows: number): PlaneTarget {
  return { ...to, offset: to.offset + rows * to.stride };
}

/** Pixels in memory; 16-bit pixels in the byte order of this machine. */
export type Pixels = Uint8Array | Uint16Array;

/**
 * Views bytes as pixels of that type, without a copy. Throws RangeError if 16-bit pixels would lie at an odd address.
 */
export function asPixels(bytes: Uint8Array, type: PixelType): Pixels {
  return type === 'u8' ? bytes : new Uint16Array(bytes.buffer, bytes.byteOffset, bytes.length >> 1);
}
