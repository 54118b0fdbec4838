import { type ItemResult, itemsOfBands, joinBands, ofOneBand, type SharedItem } from '@halogrid/kernels';
import type { BatchResult, Staging } from '../devices/device.ts';
import type { Batch } from './batch.ts';
import type { ShardRun } from './shard-run.ts';

/** The results of a batch. */
export interface BatchResults {
  /** For each item in order, one result per pipeline. */
  items: ItemResult[][];
  /** Releases the memory of dense results, which must not be read afterwards. Call it once they are written. */
  release(): void;
}

/**
 * Waits for staging memory and has `fill` put pixels into it. The caller must then run or release it. It is released
 * here if `fill` rejects, or the shard was aborted. `isLimited`: as for NodeDevice.acquire.
 */
export async function fillStaging<T>(
  { means: { device }, turn: { signal } }: ShardRun,
  bytes: number,
  fill: (staging: Staging) => Promise<T>,
  isLimited?: boolean,
): Promise<T & { staging: Staging }> {
  const staging = await device.acquire(bytes, isLimited);
  try {
    signal.throwIfAborted();
    const filled = await fill(staging);
    signal.throwIfAborted();
    return { ...filled, staging };
  } catch (error) {
    staging.release();
    throw error;
  }
}

/** Computes the items of a batch, pipeline after pipeline; their planes are in `staging`, which is given back. */
export async function runPipelines(
  { means: { device }, turn: { clock } }: ShardRun,
  { withMap, pipelines }: Pick<Batch, 'withMap' | 'pipelines'>,
  staging: Staging,
  items: readonly SharedItem[],
): Promise<BatchResults> {
  const batches: BatchResult[] = [];
  const release = (): void => {
    for (const batch of batches) batch.release?.();
  };
  if (items.length === 0) {
    staging.release();
    return { items: [], release };
  }
  for (const [i, pipeline] of pipelines.entries()) {
    // Bands are items of the device, as tiles are.
    const its = items.flatMap((shared) => itemsOfBands(pipeline, shared.items[i]!));
    const bands = its.length / items.length;
    const keep = i + 1 < pipelines.length;
    const run = () => device.run(staging, its, ofOneBand(pipeline), withMap, keep);
    const computed = await clock.onDevice(run);
    const joined = items.map((_, nth) => joinBands(pipeline, computed.items.slice(nth * bands, (nth + 1) * bands)));
    batches.push({ ...computed, items: joined });
    for (const stage of ['upload', 'compute', 'readback'] as const) clock.add(stage, computed.seconds[stage]);
  }
  return { items: items.map((_, j) => batches.map((batch) => batch.items[j]!)), release };
}
