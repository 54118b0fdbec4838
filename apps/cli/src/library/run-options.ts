/**
 * What to compute, and where. Each option is the option of the same name of the command `halogrid run`, and takes the
 * same values.
 */
export interface RunOptions {
  /** Images, videos, folders, globs, manifests: paths or URIs. */
  sources: string | readonly string[];
  /** Only inputs that one of these globs fits, in folders and other sources (all). */
  include?: string | readonly string[];
  /** No inputs that one of these globs fits. */
  exclude?: string | readonly string[];
  /** The column of Parquet files that has images: `image.bytes` (the only one that may). */
  column?: string;
  /** A kernel, `lbp:labels=uniform`, or several one after another (lbp). */
  op?: string | readonly string[];
  /**
   * Instead of `op`: up to 8 pipelines that share one decode, by their names: `{ codes: 'lbp', edges:
   * ['conv:kernel=sobel-x', …] }`.
   */
  pipelines?: Readonly<Record<string, string | readonly string[]>>;
  /** The bands of TIFFs to read, each as gray: numbers from 1, as 3 or `1,2,4`, or `all` (their gray or colours). */
  band?: number | string;
  /** Which samples of TIFFs become black and white: `-1,1` or `0,3000,u16` (samples are pixels as stored). */
  scale?: string;
  /** Pixels outside the image: zero, replicate, reflect, mirror, wrap or interior (the kernel's own). */
  border?: string;
  /** The sample of images that stands for no value: a number, `nan`, or `none` (what files state). */
  nodata?: number | string;
  /** A folder with a mask beside each image, or the mask of every image: pixels that are 0 there do not count. */
  mask?: string;
  /** The level of slides and other pyramids: 0 is the largest; or the most micrometres a pixel, as `0.5um` (0). */
  level?: number | string;
  /** The page of stacks of TIFF, or the frame of animated GIF and WebP, from 1 (the first, and no animated GIF). */
  page?: number;
  /** The output folder (halogrid-out/ID). */
  out?: string;
  /** The dense result of every source: none, tiff, tiff:deflate, zarr, zarr:zstd, png or dzi (none). */
  map?: string;
  /** Also a histogram for each cell of a grid: `4x6`, or rows and columns (1x1). */
  grid?: string | { rows: number; columns: number };
  /** Side of tiles in pixels (chosen). */
  tile?: number;
  /** Frames in a shard at most (chosen). */
  batch?: number;
  /** Percent of shards to compute a second time on the CPU as a check (0). */
  verify?: number;
  /** Fails when more inputs than this are quarantined: a number, or `1%`. */
  maxQuarantined?: number | string;
  /** Compares the content of files to find what changed since the last run with this `out`. */
  checksum?: boolean;
  /** Computes everything, whatever the last run with this `out` did. */
  fresh?: boolean;
  /** Waits if the sources cannot be read or the results cannot be written; without it, the job fails after a while. */
  waitForNode?: boolean;
  /** Priority among jobs, -100 to 100. */
  priority?: number;
  /** Takes every n-th frame of videos. */
  every?: number;
  /** Starts videos at this time: seconds, or `HH:MM:SS.mmm`. */
  from?: number | string;
  /** Ends videos before this time. */
  to?: number | string;
  /** Takes this many frames per second of videos: 5, or `30000/1001`. */
  fps?: number | string;
  /** Decodes videos in hardware. */
  hwaccel?: string;
  /** When inputs were captured, and by which camera: a pattern of names, or mtime. */
  capturedFrom?: string;
  /** The zone of times without one. */
  capturedZone?: string;
  /** Nodes to start (1). */
  nodes?: number;
  /** Where kernels run: auto, gpu, software or cpu (auto). */
  device?: string;
  /** Where JPEGs are decoded: auto, gpu or cpu (auto). */
  decode?: string;
  /** `all`: a node on each NVIDIA GPU; or the index of one. */
  gpu?: 'auto' | 'all' | number | `GPU-${string}`;
  /** How long to wait for an unavailable host or bucket of sources: `90s`, `10m`; 0: do not wait (10m). */
  sourceGrace?: number | string;
  /** How long to wait for room for the results (no limit). */
  spaceGrace?: number | string;
  /** Folder for unfinished results of an output in a bucket (halogrid/scratch in the user's data folder). */
  scratch?: string;
  /** Stops the job and its processes; the same call continues the job. */
  signal?: AbortSignal;
  /** Called with what happens to processes, in lines for people. */
  note?: (line: string) => void;
}
