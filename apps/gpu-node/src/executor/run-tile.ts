import type { PixelType } from '@halogrid/geometry';
import { excludeShared, type ItemResult } from '@halogrid/kernels';
import type { FoundResult, SourceError, Tile } from '@halogrid/proto';
import { computeBatch, emptyBatch, fillBatch, keepMaps, placeTile, planTile } from './compute-tiles.ts';
import { readMask } from './read-mask.ts';
import type { ReadTile } from './read-tile.ts';
import { needsPreview, tooSmall } from './shard-job.ts';
import type { ShardRun } from './shard-run.ts';
import { errorOf, sourceError } from './source-errors.ts';
import type { BatchResults } from './staging.ts';
import { type Fill, withOpenImage, withSharedImage } from './tile-pixels.ts';
import type { LeasedSource } from './unpack-lease.ts';

/**
 * The results of a tile, one a pipeline, or why it could not be processed. `mended`: a sentence about bytes that were
 * removed from its file.
 */
export type FoundTile = { results: FoundResult[]; mended?: string | undefined } | { error: SourceError };

/** Computes one tile. */
export async function runTile(
  run: ShardRun,
  source: LeasedSource | undefined,
  { width, height, rect }: Tile,
): Promise<FoundTile> {
  if (!source || !rect) throw new Error('The lease has a tile without a source or a rectangle');
  const { job, means } = run;
  const size = { width, height };
  const small = tooSmall(job, size);
  if (small) return { error: sourceError(source, 'read', small) };
  const plan = planTile(job, rect, size);
  let hasNoData = source.mask !== undefined;
  const compute = async (pixel: PixelType, mayExclude: boolean, fill: Fill): Promise<BatchResults> => {
    hasNoData ||= mayExclude;
    const batch = emptyBatch(run, pixel, { share: 1 });
    const item = placeTile(job, batch, plan, source, { mayExclude: hasNoData });
    if (!item) {
      const limit = `the device takes at once (${means.device.maxStagingBytes} bytes)`;
      throw new Error(`A tile of ${rect.width} x ${rect.height} pixels and its results are more than ${limit}`);
    }
    const filled = await fillBatch(run, batch, needsPreview(source), async (bytes) => {
      const noData = await fill(bytes, plan, item);
      const masked = source.mask && (await readMask(run, source, source.mask, plan));
      excludeShared(batch.pipelines, plan, item, { noData, masked });
      return [{ source, size, rect, item }];
    });
    return (await computeBatch(run, filled)).results;
  };
  const isWhole = rect.width === width && rect.height === height;
  try {
    const { results, captured, place, mended } = isWhole
      ? await withOpenImage(run, source, size, compute)
      : await withSharedImage(run, source, size, rect.height, compute);
    const tile = { source, size, rect, captured, place, hasNoData, mended };
    await keepMaps(run, { tiles: [tile], results });
    return { results: resultsOf(tile, results.items[0]!), mended };
  } catch (error) {
    return { error: await errorOf(source, error) };
  }
}

/** Only the first tile reports the capture time. */
function resultsOf(
  { source, size: { width, height }, rect, captured }: ReadTile,
  items: readonly ItemResult[],
): FoundResult[] {
  return items.map(({ counted, bins }, i): FoundResult => {
    const result = { source: source.index, width, height, rect, counted, bins };
    if (i > 0) return { ...result, pipeline: i };
    return captured ? { ...result, captured } : result;
  });
}
