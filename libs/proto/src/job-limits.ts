/** What `JobSpec.map_format` may be. */
export const mapFormats: readonly string[] = ['none', 'tiff', 'zarr', 'png', 'dzi'];

/** What `VideoOptions.hwaccel` may be: FFmpeg's names of what Linux has. */
export const hwaccels: readonly string[] = ['cuda', 'vaapi', 'vdpau', 'qsv', 'vulkan', 'drm'];

/** `VideoOptions.every` at most. */
export const maxEvery = 999_999_999;

/** `JobSpec.tile_px` at most: one tile of this side is a gigabyte. */
export const maxTilePx = 32_768;

/** `JobSpec.sources` at most; folders, globs and manifests stand for any number of inputs. */
export const maxSources = 65_536;

/** Characters of a URI at most: a presigned one takes some hundred. */
export const maxUriLength = 8_192;

/**
 * `JobSpec.batch_frames` at most: a lease names every frame and is one message, and 4096 URIs of a kilobyte are a quarter
 * of what one may hold.
 */
export const maxBatchFrames = 4096;

/** `JobSpec.priority` at least and at most. */
export const jobPriorities = { lowest: -100, highest: 100 };

/** Why the results of a pipeline without an exact histogram are not verified. */
export const whyNotVerified =
  'histograms are what is compared, and this pipeline has none that is exact: results as float32 may differ between devices by their last bits';

/**
 * Bytes of a message between coordinator and node at most. The largest is the answer for one image of 2^22 bins, which is all
 * that an image may have: its counts take 1 or 2 bytes each, and 3 only where every bin holds 2^14 pixels.
 */
export const maxMessageBytes = 16 * 2 ** 20;
