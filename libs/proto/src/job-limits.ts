/** Allowed values of `JobSpec.map_format`. */
export const mapFormats: readonly string[] = ['none', 'tiff', 'tiff:deflate', 'zarr', 'zarr:zstd', 'png', 'dzi'];

/**
 * Allowed values of `VideoOptions.hwaccel`: auto (CPU cores and an NVIDIA card together), cuda (that card), or FFmpeg's
 * names of the other methods that Linux has.
 */
export const hwaccels: readonly string[] = ['auto', 'cuda', 'vaapi', 'vdpau', 'qsv', 'vulkan', 'drm'];

/** The largest `VideoOptions.every`. */
export const maxEvery = 999_999_999;

/** The largest `JobSpec.tile_px`: a tile with this side takes a gigabyte. */
export const maxTilePx = 32_768;

/** At most this many `JobSpec.sources`. A folder, glob or manifest counts as one source for any number of inputs. */
export const maxSources = 65_536;

/** The longest URI in characters; a presigned one takes several hundred. */
export const maxUriLength = 8_192;

/**
 * The largest `JobSpec.batch_frames`. A lease is one message that names every frame: 4096 URIs of a kilobyte, written
 * out in full, are a quarter of the largest message.
 */
export const maxBatchFrames = 4096;

/** The largest `JobSpec.page`: all pages before it are looked at. */
export const maxPage = 65_535;

/** The largest `Share.of`. */
export const maxShares = 10_000;

/** At most this many pipelines in a job. */
export const maxPipelines = 8;

/** Whether a pipeline may have that name, which is also the name of its folder. */
export const isPipelineName = (name: string): boolean => /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(name);

/** What `isPipelineName` accepts, in words. */
export const pipelineNames = "letters, digits, '-' and '_', at most 64 of them, with a letter or digit first,";

/** The lowest and the highest `JobSpec.priority`. */
export const jobPriorities = { lowest: -100, highest: 100 };

/** Why the results of a pipeline without an exact histogram are not verified. */
export const whyNotVerified =
  'histograms are what is compared, and this pipeline has none that is exact: results as float32 may differ between devices by their last bits';

/**
 * The largest message between coordinator and node, in bytes. The largest in use are a submitted manifest and a lease
 * with 8 MiB of sources; counts of more than a mebibyte are split into several messages.
 */
export const maxMessageBytes = 16 * 2 ** 20;

/** The largest image of a query, in bytes: it fits into one message with the rest of the request. */
export const maxImageBytes = 15 * 2 ** 20;

/**
 * Limits of one SearchPart order: its queries, the counts of all queries together (8 MiB), and the hits of all queries
 * together (3 MB). Both fit into a message of 16 MiB. A coordinator does a larger search itself.
 */
export const maxPartQueries = 64;
export const maxPartCounts = 2 ** 20;
export const maxPartHits = 2 ** 16;
