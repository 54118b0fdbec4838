/** What `JobSpec.map_format` may be. */
export const mapFormats: readonly string[] = ['none', 'tiff', 'zarr', 'png', 'dzi'];

/**
 * What `VideoOptions.hwaccel` may be: cores and an NVIDIA card together, that card, or FFmpeg's names of what else
 * Linux has.
 */
export const hwaccels: readonly string[] = ['auto', 'cuda', 'vaapi', 'vdpau', 'qsv', 'vulkan', 'drm'];

/** `VideoOptions.every` at most. */
export const maxEvery = 999_999_999;

/** `JobSpec.tile_px` at most: one tile of this side is a gigabyte. */
export const maxTilePx = 32_768;

/** `JobSpec.sources` at most; folders, globs and manifests stand for any number of inputs. */
export const maxSources = 65_536;

/** Characters of a URI at most: a presigned one takes some hundred. */
export const maxUriLength = 8_192;

/**
 * `JobSpec.batch_frames` at most: a lease tells every frame and is one message, and 4096 URIs of a kilobyte are a
 * quarter of what one may hold, where they are written out.
 */
export const maxBatchFrames = 4096;

/** Pipelines of a job at most. */
export const maxPipelines = 8;

/** Whether a pipeline may have that name, which is that of its folder as well. */
export const isPipelineName = (name: string): boolean => /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(name);

/** What `isPipelineName` wants. */
export const pipelineNames = "letters, digits, '-' and '_', at most 64 of them, with a letter or digit first,";

/** `JobSpec.priority` at least and at most. */
export const jobPriorities = { lowest: -100, highest: 100 };

/** Why the results of a pipeline without an exact histogram are not verified. */
export const whyNotVerified =
  'histograms are what is compared, and this pipeline has none that is exact: results as float32 may differ between devices by their last bits';

/**
 * Bytes of a message between coordinator and node at most. The largest are a submitted manifest, and a lease with 8 MiB
 * of sources; counts have messages of a mebibyte where they are more.
 */
export const maxMessageBytes = 16 * 2 ** 20;

/** Bytes of a query's image at most: one message with all that goes with it. */
export const maxImageBytes = 15 * 2 ** 20;

/**
 * Queries of a part of a search at most, counts of all of them, and hits that are wanted of all of them: 8 MiB of
 * counts, and 3 MB of hits, of a message of 16 MiB. What is more, a coordinator looks for itself.
 */
export const maxPartQueries = 64;
export const maxPartCounts = 2 ** 20;
export const maxPartHits = 2 ** 16;
