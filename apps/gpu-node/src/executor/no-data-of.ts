import { type BitPlane, createBitPlane, type Size } from '@halogrid/geometry';
import { canBeSample, type OpenImage, rangeOf } from '@halogrid/imaging';
import { noDataSample } from '@halogrid/proto/no-data';
import type { ShardJob } from './shard-job.ts';

/**
 * The sample that stands for no value in an image, by the job or else as its file states it; undefined if none of its
 * samples can have it. NaN if only NaN does.
 */
export function noDataOf(
  { noData: asked }: Pick<ShardJob, 'noData'>,
  { noData: stated, pixel, samples }: Pick<OpenImage, 'noData' | 'pixel' | 'samples'>,
): number | undefined {
  const value = noDataSample(asked, stated);
  if (value !== undefined && canBeSample(value, samples ?? rangeOf(pixel))) return value;
  return samples?.isReal ? Number.NaN : undefined;
}

/** Planes for the pixels without a value, in shared memory: one or, if several bands are read, one for each. */
export const noDataPlanes = ({ channels, planes }: Pick<ShardJob, 'channels' | 'planes'>, size: Size): BitPlane[] =>
  Array.from({ length: channels === 'gray' ? planes : 1 }, () => createBitPlane(size, true));
