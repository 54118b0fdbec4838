import { placeColours, placePlane } from '@halogrid/jpeg';
import type { JpegFeed } from '../feed/jpeg-feed.ts';
import { type EncodedBatch, takenWords } from '../feed/jpeg-orders.ts';
import type { AskedFrame, ListedFrame } from './asked-frame.ts';
import { Batch } from './batch.ts';
import { computeBatch, type FilledBatch, type FilledFrame, keepMaps, putOutcomes } from './compute-tiles.ts';
import { bytesOf, jpegLimits, mostFrames, PlansBySize } from './device-frames.ts';
import type { FrameOutcomes } from './frame-outcomes.ts';
import type { ShardRun } from './shard-run.ts';
import { fillStaging } from './staging.ts';

/** A JPEG that was read for the device, from a file or a packet of `fileBytes` bytes. */
interface EncodedFrame extends FilledFrame {
  fileBytes: number;
}

/** JPEGs that were read for the device into staging memory. */
export interface ReadJpegs extends FilledBatch<EncodedFrame> {
  read: EncodedBatch;
  /** The end of the planes, and of the chroma that colours are made from. */
  planesBytes: number;
}

/** Bytes of files that the device decoded without doubt, and the seconds that decoding took. */
export interface DecodedBytes {
  done: number;
  seconds: number;
}

/**
 * Computes JPEGs that the device decodes; their pixels never leave the device. JPEGs that are not for devices, changed
 * since they were planned, or are in doubt get no outcome.
 */
export async function runEncoded(
  run: ShardRun,
  feed: JpegFeed,
  frames: readonly ListedFrame[],
  outcomes: FrameOutcomes,
): Promise<DecodedBytes> {
  const sum = { done: 0, seconds: 0 };
  const most = mostFrames(run.job);
  for (let first = 0; first < frames.length; ) {
    const batch = await readBatch(run, feed, frames.slice(first, first + most));
    const { done, seconds } = await computeEncoded(run, batch, outcomes);
    sum.done += done;
    sum.seconds += seconds;
    first += batch.read.done;
  }
  return sum;
}

/** Reads frames into staging memory, as many as make a batch. The caller must compute the batch. */
async function readBatch(run: ShardRun, feed: JpegFeed, frames: readonly ListedFrame[]): Promise<ReadJpegs> {
  const limits = jpegLimits(run, bytesOf(frames));
  const files = frames.map(({ source: { uri, version } }) => ({ uri, version }));
  return await fillStaging(run, limits.bytes, async ({ bytes }) => {
    await run.means.device.jpegs!.prepare(run.job.channels);
    const read = await run.turn.clock.time('read', () => feed.read(files, bytes, limits));
    return { read, ...placeEncoded(run, read, frames) };
  });
}

/**
 * Decodes and computes a batch, and writes maps if they are wanted. Frames that were decoded with doubt get no
 * outcome.
 */
export async function computeEncoded(run: ShardRun, jpegs: ReadJpegs, outcomes: FrameOutcomes): Promise<DecodedBytes> {
  const { staging, read, tiles, planesBytes } = jpegs;
  if (tiles.length === 0) {
    staging.release();
    return { done: 0, seconds: 0 };
  }
  const { layout, colours, filesBytes } = read;
  const decoding = run.means.device.jpegs!.decode(staging, { layout, colours, filesBytes, planesBytes });
  // If the device is lost, running the kernels fails too.
  decoding.catch(() => {});
  const { results } = await computeBatch(run, jpegs);
  const { areFine, seconds } = await decoding;
  run.turn.clock.addDecoded(seconds);
  const fine = {
    tiles: tiles.filter((_, i) => areFine[i]),
    results: { ...results, items: results.items.filter((_, i) => areFine[i]) },
  };
  if (run.job.wantsMap) await keepMaps(run, fine);
  putOutcomes(fine, outcomes);
  const done = fine.tiles.reduce((sum, { fileBytes }) => sum + fileBytes, 0);
  run.turn.inputBytes += done;
  return { done, seconds: seconds.upload + seconds.decode };
}

/** Places the planes of `frames` that were read. Throws RangeError if they do not fit, which limits rule out. */
export function placeEncoded(
  { job, means }: ShardRun,
  { layout, colours, taken, captured, mended }: EncodedBatch,
  frames: readonly AskedFrame[],
): Pick<ReadJpegs, 'batch' | 'tiles' | 'planesBytes'> {
  const { maxStagingBytes } = means.device;
  const pipelines = job.pipelines.map(({ pipeline }) => pipeline);
  const batch = new Batch('u8', pipelines, { maxStagingBytes, batchBytes: maxStagingBytes });
  const plans = new PlansBySize(job);
  const count = taken.length / takenWords;
  const tiles = Array.from({ length: count }, (_, i) => {
    const [nth, fileBytes, width, height] = wordsOf(taken, i);
    const plan = plans.of({ width, height });
    const item = batch.add(plan, job.wantsMap);
    if (!item) throw new RangeError(`The planes of ${count} JPEGs and their results do not fit the device`);
    const { source, position } = frames[nth]!;
    const { size, rect } = plan;
    const facts = { captured: captured.get(nth), mended: mended.get(nth) };
    return { source, position, size, rect, item, fileBytes, ...facts };
  });
  let planesBytes = batch.stagingBytes;
  for (const [i, { item }] of tiles.entries()) {
    if (colours) planesBytes = placeColours({ layout, colours }, i, item, planesBytes);
    else placePlane(layout, i, item);
  }
  return { batch, tiles, planesBytes };
}

/** The frame's index among the requested ones, its bytes, its width and its height. */
const wordsOf = (taken: Uint32Array, frame: number): [number, number, number, number] => {
  const at = frame * takenWords;
  return [taken[at]!, taken[at + 1]!, taken[at + 2]!, taken[at + 3]!];
};
