import type { OpenImage, writeChunk } from '@halogrid/imaging';
import type { ItemResult, Pipeline, PlaneItem, Rect, Size } from '@halogrid/kernels';
import type { Source, SourceError, SourceResult } from '@halogrid/proto';
import type { Device } from '../devices/device.ts';
import { OutputError } from './output-error.ts';
import type { PlaneCache } from './plane-cache.ts';
import type { StageClock } from './stage-clock.ts';

/** One shard on its way: what computes it, what is asked for, and what was used so far. */
export interface ShardRun {
  readonly device: Device;
  readonly openImage: (uri: string) => Promise<OpenImage>;
  readonly writeChunk: typeof writeChunk;
  readonly planes: PlaneCache;
  readonly pipeline: Pipeline;
  /** Folder URI for chunks. */
  readonly scratch: string;
  readonly wantsMap: boolean;
  /** Sources with a lower index get a preview chunk. */
  readonly previews: number;
  /** Aborted when the result is not wanted any more. */
  readonly signal: AbortSignal;
  readonly clock: StageClock;
  /** Encoded bytes read so far. */
  inputBytes: number;
}

export type SourceOutcome = { kind: 'result'; result: SourceResult } | { kind: 'error'; error: SourceError };

/** Whether the codes of a source are needed, and not its histogram alone. */
export function needsCodes(run: ShardRun, source: Source): boolean {
  return run.wantsMap || source.index < run.previews;
}

/**
 * Waits for staging memory, has `fill` put planes into it, and computes those that `fill` returns; their results are in
 * the same order.
 */
export async function runOnDevice(
  run: ShardRun,
  stagingBytes: number,
  withMap: boolean,
  fill: (bytes: Uint8Array) => Promise<PlaneItem[]>,
): Promise<ItemResult[]> {
  const staging = await run.device.acquire(stagingBytes);
  let items: PlaneItem[];
  try {
    run.signal.throwIfAborted();
    items = await fill(staging.bytes);
    run.signal.throwIfAborted();
  } catch (error) {
    staging.release();
    throw error;
  }
  if (items.length === 0) {
    staging.release();
    return [];
  }
  const { items: results, seconds } = await run.device.run(staging, items, run.pipeline, withMap);
  for (const stage of ['upload', 'compute', 'readback'] as const) run.clock.add(stage, seconds[stage]);
  return results;
}

/** Keeps the codes of `rect` as the chunks that are wanted of it. Rejects with OutputError. */
export async function writeChunks(
  run: ShardRun,
  source: Source,
  size: Size,
  rect: Rect,
  { map, mapStride }: ItemResult,
): Promise<void> {
  const chunk = { scratch: run.scratch, source: source.index, size, rect };
  try {
    if (run.wantsMap) await run.writeChunk({ ...chunk, kind: 'map' }, map!, mapStride!);
    if (source.index < run.previews) await run.writeChunk({ ...chunk, kind: 'preview' }, map!, mapStride!);
  } catch (error) {
    throw new OutputError(error);
  }
}

export function sourceResult(source: Source, size: Size, rect: Rect, item: ItemResult): SourceOutcome {
  const { width, height } = size;
  const result = { source: source.index, width, height, rect, counted: item.counted, bins: Array.from(item.bins) };
  return { kind: 'result', result };
}

export function sourceError(source: Source, stage: string, error: string): SourceOutcome {
  return { kind: 'error', error: { source: source.index, stage, error } };
}

/** Closes the image and counts what was read of it. */
export async function closeImage(run: ShardRun, image: OpenImage): Promise<void> {
  run.inputBytes += image.inputBytes;
  await image.close();
}
