import { defaultTilePx } from '@halogrid/kernels';

/** Side of the tiles of a job that asks for `tilePx`, where 0 leaves it to us. */
export function tileSide(tilePx: number): number {
  return tilePx || defaultTilePx;
}
