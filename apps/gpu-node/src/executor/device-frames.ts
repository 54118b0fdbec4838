// Shared by frames that are read for devices in batches.
import type { Size } from '@halogrid/geometry';
import type { JpegLimits } from '../feed/jpeg-orders.ts';
import type { ListedFrame } from './asked-frame.ts';
import { resultSpaceOf, resultsLimitBytes } from './batch.ts';
import { planWhole, type TilePlan } from './compute-tiles.ts';
import { minSideOf, type ShardJob } from './shard-job.ts';
import type { ShardRun } from './shard-run.ts';
import type { LeasedSource } from './unpack-lease.ts';

/** The usual upper size of a JPEG of 1080p, for files whose size is not known yet. */
const usualFileBytes = 2 ** 18;

/** The bytes of a file, as it was listed. */
export const listedBytes = ({ sizeBytes }: LeasedSource): number => sizeBytes || usualFileBytes;

/** The bytes of files in whole words, as they were listed. */
export const bytesOf = (frames: readonly ListedFrame[]): number =>
  frames.reduce((sum, { fileBytes }) => sum + 4 * Math.ceil(fileBytes / 4), 0);

/** Frames whose histograms one batch holds. */
export function mostFrames({ pipelines, grid }: ShardJob): number {
  const cells = grid.rows * grid.columns;
  const each = pipelines.map(({ pipeline }) => 4 * pipeline.bins * pipeline.output.channels.length * cells);
  return Math.max(1, Math.floor(resultsLimitBytes / each.reduce((sum, bytes) => sum + bytes, 1)));
}

/** The limits of a batch of JPEGs that the device decodes; `wantedBytes` of files are wanted. */
export function jpegLimits({ job, means, turn }: ShardRun, wantedBytes: number): JpegLimits {
  const { pipelines, grid, channels, wantsMap } = job;
  const { device } = means;
  const { batchShare } = turn;
  const { maxBytes, batchBytes } = device.jpegs!;
  // Each component is decoded like a file.
  const most = channels === 'gray' ? maxBytes : 4 * Math.floor(maxBytes / 12);
  const its = pipelines.map(({ pipeline }) => pipeline);
  return {
    bytes: Math.min(wantedBytes, most),
    planesBytes: batchBytes * batchShare,
    results: {
      most: Math.min(resultsLimitBytes * batchShare, device.maxStagingBytes),
      ...resultSpaceOf(its, grid.rows * grid.columns, wantsMap),
    },
    minSide: minSideOf(job),
    channels,
  };
}

/** Plans of whole images, one for each size. */
export class PlansBySize {
  readonly #job: ShardJob;
  readonly #plans = new Map<string, TilePlan>();
  /** Most frames are of the size of the one before. */
  #last: TilePlan | undefined;

  constructor(job: ShardJob) {
    this.#job = job;
  }

  of(size: Size): TilePlan {
    const { width, height } = size;
    if (this.#last?.size.width === width && this.#last.size.height === height) return this.#last;
    const name = `${width}x${height}`;
    const plan = this.#plans.get(name) ?? planWhole(this.#job, size);
    this.#plans.set(name, plan);
    this.#last = plan;
    return plan;
  }
}
