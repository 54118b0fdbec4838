import type { PixelType } from '@halogrid/geometry';
import type { Tile } from '@halogrid/proto';
import { computeBatch, emptyBatch, fillBatch, keepMaps, placeTile, planTile } from './compute-tiles.ts';
import { failedOutcome, type SourceOutcome, sourceError, sourceOutcome } from './outcomes.ts';
import { needsPreview, tooSmall } from './shard-job.ts';
import type { ShardRun } from './shard-run.ts';
import type { BatchResults } from './staging.ts';
import { type Fill, withOpenImage, withSharedImage } from './tile-pixels.ts';
import type { LeasedSource } from './unpack-lease.ts';

/** Computes one tile. */
export async function runTile(
  run: ShardRun,
  source: LeasedSource | undefined,
  { width, height, rect }: Tile,
): Promise<SourceOutcome> {
  if (!source || !rect) throw new Error('The lease has a tile without a source or a rectangle');
  const { job, means } = run;
  const size = { width, height };
  const small = tooSmall(job, size);
  if (small) return sourceError(source, 'read', small);
  const plan = planTile(job, rect, size);
  const compute = async (pixel: PixelType, fill: Fill): Promise<BatchResults> => {
    const batch = emptyBatch(run, pixel, { share: 1 });
    const item = placeTile(job, batch, plan, source);
    if (!item) {
      const limit = `the device takes at once (${means.device.maxStagingBytes} bytes)`;
      throw new Error(`A tile of ${rect.width} x ${rect.height} pixels and its results are more than ${limit}`);
    }
    const filled = await fillBatch(run, batch, needsPreview(source), async (bytes) => {
      await fill(bytes, plan.copies, item);
      return [{ source, size, rect, item }];
    });
    return (await computeBatch(run, filled)).results;
  };
  const isWhole = rect.width === width && rect.height === height;
  try {
    const { results, captured, mended } = isWhole
      ? await withOpenImage(run, source, size, compute)
      : await withSharedImage(run, source, size, rect.height, compute);
    const tile = { source, size, rect, captured, mended };
    await keepMaps(run, { tiles: [tile], results });
    return sourceOutcome(tile, results.items[0]!);
  } catch (error) {
    return await failedOutcome(source, error);
  }
}
