/** How the tiles of a map are compressed, each by itself and without loss. */
export type MapCodec = 'deflate' | 'zstd';

/** The level of Zstandard, which a Zarr states. */
export const zstdLevel = 3;

/** A tile or a chunk in a file: its first byte, and its length. */
export interface TilePlace {
  offset: number;
  bytes: number;
}
