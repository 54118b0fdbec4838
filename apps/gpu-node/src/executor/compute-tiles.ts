// What tiles, frames and recordings have in common: placed in a batch, read into its memory, computed, kept.
import type { PixelType, Rect, Size } from '@halogrid/geometry';
import { planPipelines, type SharedItem, type SharedPlan } from '@halogrid/kernels';
import { settleAll } from '@halogrid/threads';
import type { Staging } from '../devices/device.ts';
import type { AskedFrame } from './asked-frame.ts';
import { Batch } from './batch.ts';
import type { FrameOutcomes } from './frame-outcomes.ts';
import type { ReadTile } from './read-tile.ts';
import { needsMap, type ShardJob, samplingsOf } from './shard-job.ts';
import type { ShardRun } from './shard-run.ts';
import { type BatchResults, fillStaging, runPipelines } from './staging.ts';
import type { LeasedSource } from './unpack-lease.ts';
import { writeChunks, writeSourceChunk } from './write-chunks.ts';

/** A rectangle of an image of that size, and how each pipeline reads and computes it. */
export interface TilePlan extends SharedPlan {
  rect: Rect;
  size: Size;
}

export function planTile({ pipelines, grid }: ShardJob, rect: Rect, size: Size): TilePlan {
  const its = pipelines.map(({ pipeline }) => pipeline);
  return { ...planPipelines(its, rect, size, grid), rect, size };
}

/** A plan of a whole image. */
export const planWhole = (job: ShardJob, { width, height }: Size): TilePlan =>
  planTile(job, { x: 0, y: 0, width, height }, { width, height });

/** A batch without tiles; `isLimited`: for luma of the limited range, which some devices convert to gray. */
export function emptyBatch(
  { job: { pipelines }, means: { device }, turn: { batchShare } }: ShardRun,
  pixel: PixelType,
  { share = batchShare, isLimited = false } = {},
): Batch {
  const its = pipelines.map(({ pipeline }) => pipeline);
  return new Batch(pixel, its, device, share, isLimited);
}

/**
 * Adds a tile of a source to a batch, as Batch.add, with its dense results if they are wanted. `mayExclude`: whether
 * some of its pixels may be excluded.
 */
export function placeTile(
  job: ShardJob,
  batch: Batch,
  plan: TilePlan,
  source: LeasedSource,
  { stride, mayExclude = false }: { stride?: number | undefined; mayExclude?: boolean } = {},
): SharedItem | undefined {
  const samplings = samplingsOf(job, plan.rect, plan.size);
  return batch.add(plan, needsMap(job, source), { samplings, stride, mayExclude });
}

/** A tile whose pixels are in the staging memory of its batch. */
export interface FilledTile extends ReadTile {
  item: SharedItem;
}

/** A frame as a single tile. */
export interface FilledFrame extends FilledTile, AskedFrame {}

/** A batch whose pixels are in staging memory. The caller must compute it. */
export interface FilledBatch<Tile extends FilledTile> {
  batch: Pick<Batch, 'withMap' | 'pipelines'>;
  staging: Staging;
  tiles: readonly Tile[];
}

/**
 * Waits for staging memory, has `read` put the pixels of a batch into it, and keeps the preview pixels of the tiles
 * that `read` returns. `hasPreviews`: pixels are also read back, so they go to a GPU through other memory: its own is
 * made for writing, and reading a preview of 1080p from it took 3 s (measured on an H200).
 */
export async function fillBatch<Tile extends FilledTile>(
  run: ShardRun,
  batch: Batch,
  hasPreviews: boolean,
  read: (bytes: Uint8Array) => Promise<readonly Tile[]>,
): Promise<FilledBatch<Tile>> {
  const { stagingBytes, pixel, isLimited } = batch;
  const isApart = hasPreviews && run.means.device.info.kind === 'gpu';
  const fill = async (staging: Staging) => {
    const bytes = isApart ? new Uint8Array(stagingBytes) : staging.bytes;
    const tiles = await read(bytes);
    await settleAll(tiles.map((tile) => writeSourceChunk(run, tile, pixel, bytes)));
    if (isApart) staging.bytes.set(bytes);
    return { batch, tiles };
  };
  return await fillStaging(run, stagingBytes, fill, isLimited);
}

/** Tiles of a batch, and the results of each. */
export interface ComputedTiles<Tile extends ReadTile = ReadTile> {
  tiles: readonly Tile[];
  results: BatchResults;
}

/** Computes the tiles of a batch, and releases the staging memory. */
export async function computeBatch<Tile extends FilledTile>(
  run: ShardRun,
  { batch, staging, tiles }: FilledBatch<Tile>,
): Promise<ComputedTiles<Tile>> {
  const items = tiles.map(({ item }) => item);
  return { tiles, results: await runPipelines(run, batch, staging, items) };
}

/** Writes the dense results of tiles that are wanted, and releases their memory. Rejects with OutputError. */
export async function keepMaps(run: ShardRun, { tiles, results: { items, release } }: ComputedTiles): Promise<void> {
  const write = () => settleAll(tiles.map((tile, i) => writeChunks(run, tile, items[i]!)));
  await run.turn.clock.time('encode', write).finally(release);
}

/** Puts the results of frames to their positions in the lease. */
export function putOutcomes({ tiles, results: { items } }: ComputedTiles<FilledFrame>, outcomes: FrameOutcomes): void {
  for (let i = 0; i < tiles.length; i++) outcomes.put(tiles[i]!.position, tiles[i]!, items[i]!);
}
