import type { Rect, Sampling, Size } from '@halogrid/geometry';
import type { PlaneTarget, ReadOptions } from '@halogrid/imaging';
import {
  type AskedOperation,
  checkGrid,
  createPipeline,
  type Grid,
  overBands,
  type Pipeline,
  planesRead,
} from '@halogrid/kernels';
import type { Lease } from '@halogrid/proto';
import { readOptions } from '@halogrid/proto/read-options';
import { previewSampling } from '@halogrid/results';
import type { KnownResults } from './known-results.ts';
import type { LeasedSource } from './unpack-lease.ts';

/** What a job asks of each of its sources. */
export interface ShardJob {
  /** The pipelines for 8-bit pixels; batches adapt them to the pixels of their images. All take the same channels. */
  readonly pipelines: readonly LeasedPipeline[];
  /** The channels that the pipelines take, in the terms of decoders. */
  readonly channels: PlaneTarget['channels'];
  /** The planes of these channels, or of the bands that are read. */
  readonly planes: number;
  /** The grid of each image; its cells are counted separately. */
  readonly grid: Grid;
  /** Folder URI for chunks of the sources themselves. */
  readonly scratch: string;
  readonly wantsMap: boolean;
  /** Whether maps are written as shards of a Zarr if possible. */
  readonly zarrShards: boolean;
  /** The sample that stands for no value, as noDataSample reads it. */
  readonly noData?: string | undefined;
  /** What of images is read; undefined: all of the largest level, with samples as they are. */
  readonly read?: ReadOptions | undefined;
}

export interface LeasedPipeline {
  readonly pipeline: Pipeline;
  /** Folder URI for chunks of its results. */
  readonly scratch: string;
}

/**
 * The job of a lease, without the pipelines whose results are known. Throws ParameterError, or one sentence if the
 * lease has no pipeline or its pipelines take different channels.
 */
export function shardJob(lease: Lease, known?: KnownResults): ShardJob {
  const { grid: asked, scratch, wantsMap, zarrShards = false, nodata: noData } = lease;
  const pipelines = leasedPipelines(lease).filter((_, i) => !known?.[i]);
  const [first] = pipelines;
  if (!first) throw new Error('The lease has no pipeline');
  const { input } = first.pipeline;
  if (pipelines.some(({ pipeline }) => pipeline.input.join() !== input.join())) {
    throw new Error('The pipelines of the lease take different channels');
  }
  const grid = { rows: asked?.rows || 1, columns: asked?.columns || 1 };
  for (const { pipeline } of pipelines) checkGrid(grid, pipeline);
  const channels = input.length === 1 ? 'gray' : 'rgb';
  const planes = planesRead(first.pipeline);
  return { pipelines, channels, planes, grid, scratch, wantsMap, zarrShards, noData, read: readOptions(lease) };
}

function leasedPipelines({ pipeline, pipelines, band, scratch }: Lease): LeasedPipeline[] {
  const create = (operations: readonly AskedOperation[] = []) =>
    overBands(band?.numbers ?? [], createPipeline(operations));
  if (!pipelines) return pipeline ? [{ pipeline: create(pipeline.operations), scratch }] : [];
  return pipelines.named.map(({ name, pipeline: its }) => ({
    pipeline: create(its?.operations),
    scratch: `${scratch}/pipelines/${name}`,
  }));
}

/** Whether pictures of a source and of its result are made. */
export const needsPreview = ({ preview }: LeasedSource): boolean => preview === true;

/** Whether the dense result of a source is needed, not only its histogram. */
export const needsMap = ({ wantsMap }: ShardJob, source: LeasedSource): boolean => wantsMap || needsPreview(source);

/** For `needsMap`: the pixels of `rect` for which each pipeline's dense result is wanted; undefined: all of them. */
export function samplingsOf({ wantsMap, pipelines }: ShardJob, rect: Rect, size: Size): (Sampling | undefined)[] {
  return pipelines.map(({ pipeline }) => {
    if (wantsMap) return undefined;
    const sampling = previewSampling(rect, size, pipeline.output.channels.length);
    return sampling.step > 1 ? sampling : undefined;
  });
}

/** Pixels per side that the kernels of every pipeline need. */
export const minSideOf = ({ pipelines }: ShardJob): number =>
  Math.max(...pipelines.map(({ pipeline }) => pipeline.minSide));

/** One sentence if an image is smaller than a kernel of a pipeline. */
export function tooSmall(job: ShardJob, { width, height }: Size): string | undefined {
  const minSide = minSideOf(job);
  if (Math.min(width, height) >= minSide) return undefined;
  return `A ${width} x ${height} image is smaller than the kernel, which needs ${minSide} pixels a side`;
}
