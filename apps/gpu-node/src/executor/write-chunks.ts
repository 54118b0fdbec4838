import { type PixelType, sampleBytes } from '@halogrid/geometry';
import { type ItemResult, planesRead, type SharedItem } from '@halogrid/kernels';
import { piecesOf, samplesOfPart, writeOrigin } from '@halogrid/results';
import { OutputError } from '../parts/output-error.ts';
import type { ReadTile } from './read-tile.ts';
import { type LeasedPipeline, needsMap, needsPreview } from './shard-job.ts';
import type { ShardRun } from './shard-run.ts';

/** Writes each pipeline's dense result of a tile as the wanted chunks. Rejects with OutputError. */
export async function writeChunks(run: ShardRun, tile: ReadTile, results: readonly ItemResult[]): Promise<void> {
  if (!needsMap(run.job, tile.source)) return;
  for (const [i, leased] of run.job.pipelines.entries()) await writeChunksOf(run, leased, tile, results[i]!);
}

async function writeChunksOf(
  { job: { wantsMap, zarrShards }, means: { writeChunk } }: ShardRun,
  { pipeline, scratch }: LeasedPipeline,
  { source, size, rect, place, hasNoData = false }: ReadTile,
  { map }: ItemResult,
): Promise<void> {
  const { sample, channels } = pipeline.output;
  const type = { sample, bands: channels.length };
  const chunk = { scratch, source: source.index, size, type, rect };
  const { bytes, stride, bandBytes } = map!;
  const samples = { bytes, strideBytes: stride, bandBytes, areOfPreview: !wantsMap };
  try {
    for (const piece of wantsMap ? piecesOf(rect, size, type, zarrShards) : []) {
      await writeChunk({ ...chunk, ...piece }, samplesOfPart(samples, type, rect, piece.rect));
    }
    if (wantsMap && rect.x === 0 && rect.y === 0) await writeOrigin(chunk, { place, hasNoData });
    if (needsPreview(source)) await writeChunk({ ...chunk, kind: 'preview' }, samples);
  } catch (error) {
    throw new OutputError(error);
  }
}

/**
 * Writes the pixels of a tile that the preview of its source shows beside the map, if there is a preview. `item` says
 * where the tile is in `bytes`. Rejects with OutputError.
 */
export async function writeSourceChunk(
  { job: { scratch, pipelines }, means: { writeChunk } }: ShardRun,
  { source, size, rect, item }: ReadTile & { item: SharedItem },
  pixel: PixelType,
  bytes: Uint8Array,
): Promise<void> {
  if (!needsPreview(source)) return;
  const { stages, offset, stride, planeBytes } = item.items[0]!;
  const type = { sample: pixel, bands: planesRead(pipelines[0]!.pipeline) };
  // The halo of each kernel surrounds the input of the next one.
  const x = stages.reduce((sum, { out }) => sum + out.x, 0);
  const y = stages.reduce((sum, { out }) => sum + out.y, 0);
  const at = offset + y * stride + x * sampleBytes[pixel];
  const samples = { bytes: bytes.subarray(at), strideBytes: stride, bandBytes: planeBytes };
  const chunk = { scratch, kind: 'sums' as const, source: source.index, size, type, rect };
  try {
    await writeChunk(chunk, samples);
  } catch (error) {
    throw new OutputError(error);
  }
}
