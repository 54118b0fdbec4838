import type { PixelType } from '@halogrid/geometry';

/** Pixels in memory; those of 16 bits in the order of this machine. */
export type Pixels = Uint8Array | Uint16Array;

/** Bytes as pixels of that type. Throws RangeError where 16-bit ones would not lie on even addresses. */
export function asPixels(bytes: Uint8Array, type: PixelType): Pixels {
  return type === 'u8' ? bytes : new Uint16Array(bytes.buffer, bytes.byteOffset, bytes.length >> 1);
}
