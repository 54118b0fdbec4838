import type { Size } from '@halogrid/imaging';
import { randomBytes } from '../timing/random-bytes.ts';

/** Interleaved 8-bit RGB of every value in no order: the same for the same size and index (1, 2, …). */
export function randomImage({ width, height }: Size, index: number): Uint8Array {
  // Multiplied, neighbouring indices begin far apart.
  return randomBytes(width * height * 3, Math.imul(index, 0x9e3779b9) | 1);
}
