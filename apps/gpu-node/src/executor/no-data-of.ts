import { canBePixel, type OpenImage } from '@halogrid/imaging';
import { noDataSample } from '@halogrid/proto/no-data';
import type { ShardJob } from './shard-job.ts';

/**
 * The sample that stands for no value in an image, by the job or else as its file states it; undefined if none of its
 * pixels can have it.
 */
export function noDataOf(
  { noData: asked }: Pick<ShardJob, 'noData'>,
  { noData: stated, pixel }: Pick<OpenImage, 'noData' | 'pixel'>,
): number | undefined {
  const value = noDataSample(asked, stated);
  return value !== undefined && canBePixel(value, pixel) ? value : undefined;
}
