import { placePlane } from '@halogrid/jpeg';
import type { SharedItem } from '@halogrid/kernels';
import type { Staging } from '../devices/device.ts';
import type { JpegFeed } from '../feed/jpeg-feed.ts';
import { type EncodedBatch, type JpegLimits, takenWords } from '../feed/jpeg-orders.ts';
import { Batch } from './batch.ts';
import { bytesOf, mostFrames, PlansBySize } from './device-frames.ts';
import type { AskedFrame } from './open-batches.ts';
import { minSideOf, runPipelines, type ShardRun, type SourceOutcome, sourceOutcome } from './shard-run.ts';

/** JPEGs that were read for the device into `staging`. */
export interface ReadBatch {
  staging: Staging;
  read: EncodedBatch;
  batch: Batch;
  items: readonly SharedItem[];
}

/**
 * Computes JPEGs that the device decodes, whose pixels never leave it. Resolves with those that it leaves to cores — they are not for
 * devices, not there as they were planned, or in doubt — and with the bytes of the others and the seconds that decoding them took.
 */
export async function runEncoded(
  run: ShardRun,
  feed: JpegFeed,
  frames: readonly AskedFrame[],
  outcomes: SourceOutcome[],
): Promise<{ left: AskedFrame[]; done: number; seconds: number }> {
  const sum = { left: [] as AskedFrame[], done: 0, seconds: 0 };
  const most = mostFrames(run);
  for (let first = 0; first < frames.length; ) {
    const some = frames.slice(first, first + most);
    const batch = await readBatch(run, feed, some);
    const looked = some.slice(0, batch.read.done);
    first += looked.length;
    const { fine, bytes, seconds } = await computeEncoded(run, batch, looked, outcomes);
    sum.left.push(...looked.filter((_, position) => !fine.has(position)));
    sum.done += bytes;
    sum.seconds += seconds;
  }
  return sum;
}

/** Reads as many of the frames as make a batch into staging memory, which is then the caller's to run or release. */
async function readBatch(run: ShardRun, feed: JpegFeed, frames: readonly AskedFrame[]): Promise<ReadBatch> {
  const { device, batchShare, clock, signal } = run;
  const jpegs = device.jpegs!;
  const limits: JpegLimits = {
    bytes: Math.min(bytesOf(frames), jpegs.maxBytes),
    planesBytes: jpegs.batchBytes * batchShare,
    minSide: minSideOf(run),
  };
  const staging = await device.acquire(limits.bytes);
  try {
    signal.throwIfAborted();
    await jpegs.prepare();
    const files = frames.map(({ source: { uri, version } }) => ({ uri, version }));
    const read = await clock.time('read', () => feed.read(files, staging.bytes, limits));
    signal.throwIfAborted();
    return { staging, read, ...placeEncoded(run, read) };
  } catch (error) {
    staging.release();
    throw error;
  }
}

/**
 * Decodes and computes a batch. Resolves with the positions among `frames` of those that were decoded without doubt, which have their
 * outcome then, with their bytes, and with the seconds that decoding took.
 */
export async function computeEncoded(
  run: ShardRun,
  { staging, read, batch, items }: ReadBatch,
  frames: readonly AskedFrame[],
  outcomes: SourceOutcome[],
): Promise<{ fine: Set<number>; bytes: number; seconds: number }> {
  const fine = new Set<number>();
  if (items.length === 0) {
    staging.release();
    return { fine, bytes: 0, seconds: 0 };
  }
  const { layout, filesBytes, taken, captured } = read;
  const decoding = run.device.jpegs!.decode(staging, { layout, filesBytes, planesBytes: batch.stagingBytes });
  // Where the device is lost, running the kernels fails as well.
  decoding.catch(() => {});
  const { items: results } = await runPipelines(run, batch, staging, items);
  const { areFine, seconds } = await decoding;
  run.clock.addDecoded(seconds);
  let bytes = 0;
  for (const [i, isFine] of areFine.entries()) {
    if (!isFine) continue;
    const [position, fileBytes, width, height] = wordsOf(taken, i);
    const { source, position: place } = frames[position]!;
    const whole = { x: 0, y: 0, width, height };
    outcomes[place] = sourceOutcome(source, whole, whole, results[i]!, captured.get(position));
    fine.add(position);
    bytes += fileBytes;
  }
  run.inputBytes += bytes;
  return { fine, bytes, seconds: seconds.upload + seconds.decode };
}

/** Places the planes of what was read. Throws RangeError where they do not fit, which limits rule out. */
export function placeEncoded(run: ShardRun, { layout, taken }: EncodedBatch): Pick<ReadBatch, 'batch' | 'items'> {
  const { maxStagingBytes } = run.device;
  const pipelines = run.pipelines.map(({ pipeline }) => pipeline);
  const batch = new Batch('u8', pipelines, { maxStagingBytes, batchBytes: maxStagingBytes });
  const plans = new PlansBySize(run);
  const items = Array.from({ length: layout.fileCount }, (_, i) => {
    const [, , width, height] = wordsOf(taken, i);
    const item = batch.add(plans.of({ width, height }), false);
    if (!item) throw new RangeError(`The planes of ${layout.fileCount} JPEGs do not fit the device`);
    placePlane(layout, i, item);
    return item;
  });
  return { batch, items };
}

/** Position, bytes, width and height of a file. */
const wordsOf = (taken: Uint32Array, file: number): [number, number, number, number] => {
  const at = file * takenWords;
  return [taken[at]!, taken[at + 1]!, taken[at + 2]!, taken[at + 3]!];
};
