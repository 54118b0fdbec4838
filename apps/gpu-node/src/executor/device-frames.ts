// What frames that are read for devices in batches have in common.
import type { Size } from '@halogrid/geometry';
import type { SharedPlan } from '@halogrid/kernels';
import type { JpegLimits } from '../feed/jpeg-orders.ts';
import { resultSpaceOf, resultsLimitBytes } from './batch.ts';
import type { ListedFrame } from './open-batches.ts';
import { minSideOf, planTile, type ShardRun } from './shard-run.ts';
import type { LeasedSource } from './unpack-lease.ts';

/** What a JPEG of 1080p has at most as a rule, for files whose size nobody knows yet. */
const usualFileBytes = 2 ** 18;

/** The bytes of a file, as it was listed. */
export const listedBytes = ({ sizeBytes }: LeasedSource): number => sizeBytes || usualFileBytes;

/** The bytes of files in whole words, as they were listed. */
export const bytesOf = (frames: readonly ListedFrame[]): number =>
  frames.reduce((sum, { fileBytes }) => sum + 4 * Math.ceil(fileBytes / 4), 0);

/** Frames whose histograms one batch holds. */
export function mostFrames({ pipelines, grid }: ShardRun): number {
  const cells = grid.rows * grid.columns;
  const each = pipelines.map(({ pipeline }) => 4 * pipeline.bins * pipeline.output.channels.length * cells);
  return Math.max(1, Math.floor(resultsLimitBytes / each.reduce((sum, bytes) => sum + bytes, 1)));
}

/** What a batch of JPEGs has at most that the device decodes, of which so many bytes are wanted. */
export function jpegLimits(run: ShardRun, wantedBytes: number): JpegLimits {
  const { device, pipelines, grid, channels, batchShare, wantsMap } = run;
  const { maxBytes, batchBytes } = device.jpegs!;
  // Components are decoded like files of their own.
  const most = channels === 'gray' ? maxBytes : 4 * Math.floor(maxBytes / 12);
  const its = pipelines.map(({ pipeline }) => pipeline);
  return {
    bytes: Math.min(wantedBytes, most),
    planesBytes: batchBytes * batchShare,
    results: {
      most: Math.min(resultsLimitBytes * batchShare, device.maxStagingBytes),
      ...resultSpaceOf(its, grid.rows * grid.columns, wantsMap),
    },
    minSide: minSideOf(run),
    channels,
  };
}

/** How whole images are computed: those of one size alike. */
export class PlansBySize {
  readonly #run: ShardRun;
  readonly #plans = new Map<string, SharedPlan>();
  /** Most frames are of the size of the one before. */
  #last: { size: Size; plan: SharedPlan } | undefined;

  constructor(run: ShardRun) {
    this.#run = run;
  }

  of(size: Size): SharedPlan {
    const { width, height } = size;
    if (this.#last?.size.width === width && this.#last.size.height === height) return this.#last.plan;
    const name = `${width}x${height}`;
    const plan = this.#plans.get(name) ?? planTile(this.#run, { x: 0, y: 0, width, height }, size);
    this.#plans.set(name, plan);
    this.#last = { size, plan };
    return plan;
  }
}
