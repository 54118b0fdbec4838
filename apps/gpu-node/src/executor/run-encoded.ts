import { placeColours, placePlane } from '@halogrid/jpeg';
import type { SharedItem } from '@halogrid/kernels';
import type { Staging } from '../devices/device.ts';
import type { JpegFeed } from '../feed/jpeg-feed.ts';
import { type EncodedBatch, takenWords } from '../feed/jpeg-orders.ts';
import { Batch } from './batch.ts';
import { bytesOf, jpegLimits, mostFrames, PlansBySize } from './device-frames.ts';
import type { AskedFrame, ListedFrame } from './open-batches.ts';
import { runPipelines, type ShardRun, type SourceOutcome, settleAll, sourceOutcome, writeChunks } from './shard-run.ts';

/** JPEGs that were read for the device into `staging`. */
export interface ReadBatch {
  staging: Staging;
  read: EncodedBatch;
  batch: Batch;
  items: readonly SharedItem[];
  /** Where the planes end, and the chroma that colours are made of. */
  planesBytes: number;
}

/**
 * Computes JPEGs that the device decodes, whose own pixels never leave it. Resolves with those that it leaves to cores — they are not for
 * devices, not there as they were planned, or in doubt — and with the bytes of the others and the seconds that decoding them took.
 */
export async function runEncoded(
  run: ShardRun,
  feed: JpegFeed,
  frames: readonly ListedFrame[],
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
async function readBatch(run: ShardRun, feed: JpegFeed, frames: readonly ListedFrame[]): Promise<ReadBatch> {
  const { device, channels, clock, signal } = run;
  const limits = jpegLimits(run, bytesOf(frames));
  const staging = await device.acquire(limits.bytes);
  try {
    signal.throwIfAborted();
    await device.jpegs!.prepare(channels);
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
 * Decodes and computes a batch, and keeps maps where they are wanted. Resolves with the positions among `frames` of those that were decoded without doubt, which have their
 * outcome then, with their bytes, and with the seconds that decoding took.
 */
export async function computeEncoded(
  run: ShardRun,
  { staging, read, batch, items, planesBytes }: ReadBatch,
  frames: readonly AskedFrame[],
  outcomes: SourceOutcome[],
): Promise<{ fine: Set<number>; bytes: number; seconds: number }> {
  const fine = new Set<number>();
  if (items.length === 0) {
    staging.release();
    return { fine, bytes: 0, seconds: 0 };
  }
  const { layout, colours, filesBytes, taken, captured } = read;
  const decoding = run.device.jpegs!.decode(staging, { layout, colours, filesBytes, planesBytes });
  // Where the device is lost, running the kernels fails as well.
  decoding.catch(() => {});
  const { items: results, release } = await runPipelines(run, batch, staging, items);
  const { areFine, seconds } = await decoding;
  run.clock.addDecoded(seconds);
  let bytes = 0;
  const writing: Promise<void>[] = [];
  for (const [i, isFine] of areFine.entries()) {
    if (!isFine) continue;
    const [position, fileBytes, width, height] = wordsOf(taken, i);
    const { source, position: place } = frames[position]!;
    const whole = { x: 0, y: 0, width, height };
    if (run.wantsMap) writing.push(writeChunks(run, source, whole, whole, results[i]!));
    outcomes[place] = sourceOutcome(source, whole, whole, results[i]!, captured.get(position));
    fine.add(position);
    bytes += fileBytes;
  }
  if (run.wantsMap) await run.clock.time('encode', () => settleAll(writing)).finally(release);
  run.inputBytes += bytes;
  return { fine, bytes, seconds: seconds.upload + seconds.decode };
}

/** Places the planes of what was read. Throws RangeError where they do not fit, which limits rule out. */
export function placeEncoded(
  run: ShardRun,
  { layout, colours, taken }: EncodedBatch,
): Pick<ReadBatch, 'batch' | 'items' | 'planesBytes'> {
  const { maxStagingBytes } = run.device;
  const pipelines = run.pipelines.map(({ pipeline }) => pipeline);
  const batch = new Batch('u8', pipelines, { maxStagingBytes, batchBytes: maxStagingBytes });
  const plans = new PlansBySize(run);
  const count = taken.length / takenWords;
  const items = Array.from({ length: count }, (_, i) => {
    const [, , width, height] = wordsOf(taken, i);
    const item = batch.add(plans.of({ width, height }), run.wantsMap);
    if (!item) throw new RangeError(`The planes of ${count} JPEGs and their results do not fit the device`);
    return item;
  });
  let planesBytes = batch.stagingBytes;
  for (const [i, item] of items.entries()) {
    if (colours) planesBytes = placeColours({ layout, colours }, i, item, planesBytes);
    else placePlane(layout, i, item);
  }
  return { batch, items, planesBytes };
}

/** Position, bytes, width and height of a file. */
const wordsOf = (taken: Uint32Array, file: number): [number, number, number, number] => {
  const at = file * takenWords;
  return [taken[at]!, taken[at + 1]!, taken[at + 2]!, taken[at + 3]!];
};
