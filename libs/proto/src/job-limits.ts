/** What `JobSpec.map_format` may be. */
export const mapFormats: readonly string[] = ['none', 'tiff', 'png'];

/** `JobSpec.tile_px` at most: one tile of this side is a gigabyte. */
export const maxTilePx = 32_768;

/**
 * `JobSpec.batch_frames` at most: a lease names every frame and is one message, and 4096 URIs of a kilobyte are half of what
 * one may hold.
 */
export const maxBatchFrames = 4096;
