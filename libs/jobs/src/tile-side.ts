import { defaultTilePx } from '@halogrid/kernels';

/** Side of a job's tiles, in pixels. A `tilePx` of 0 asks for the default. */
export function tileSide(tilePx: number): number {
  return tilePx || defaultTilePx;
}
