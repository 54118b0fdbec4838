import type { JpegFile } from '@halogrid/jpeg';
import type { SharedItem, SharedPlan } from '@halogrid/kernels';
import type { Source } from '@halogrid/proto';
import { formatOfName, isRemoteUri, sizeOfVersion } from '@halogrid/sources';
import type { CaptureTime } from '@halogrid/sources/capture-time';
import type { DeviceJpegs, Staging } from '../devices/device.ts';
import type { JpegFeed } from '../feed/jpeg-feed.ts';
import type { EncodedBatch } from '../feed/jpeg-orders.ts';
import { takenFiles } from '../feed/read-jpegs.ts';
import { Batch, resultsLimitBytes } from './batch.ts';
import type { AskedFrame } from './open-batches.ts';
import {
  needsMap,
  planTile,
  runPipelines,
  type ShardRun,
  type SourceOutcome,
  sourceOutcome,
  tooSmall,
} from './shard-run.ts';

/** What a JPEG of 1080p has, for those whose size nobody knows yet. */
const usualFileBytes = 2 ** 18;

/**
 * Whether a device may decode a source: a file of this machine that is called a JPEG, of which luma and nothing but counts are
 * wanted. A preview shows pixels, and those that cores decode are at hand.
 */
export function isForDevice(run: ShardRun, source: Source): boolean {
  return (
    run.channels === 'gray' && !needsMap(run, source) && !isRemoteUri(source.uri) && formatOfName(source.uri) === 'jpeg'
  );
}

/** The bytes of files, as listed. */
export function bytesOf(frames: readonly AskedFrame[]): number {
  return frames.reduce((sum, { source }) => sum + (sizeOf(source) ?? usualFileBytes), 0);
}

const sizeOf = ({ version }: Source): number | undefined =>
  version === undefined ? undefined : sizeOfVersion(version);

/** A frame that the device decodes, and its place in the batch. */
interface EncodedFrame extends AskedFrame {
  file: JpegFile;
  item: SharedItem;
  captured: CaptureTime | undefined;
}

/**
 * Computes JPEGs that the device decodes, whose pixels never leave it. Resolves with those that it leaves to cores — they are not for
 * devices, not there as they were planned, or in doubt — and with the seconds that it took for the others.
 */
export async function runEncoded(
  run: ShardRun,
  feed: JpegFeed,
  frames: readonly AskedFrame[],
  outcomes: SourceOutcome[],
): Promise<{ left: AskedFrame[]; deviceSeconds: number }> {
  const left: AskedFrame[] = [];
  let deviceSeconds = 0;
  for (let first = 0; first < frames.length; ) {
    const some = frames.slice(first, first + mostFrames(run));
    const { staging, encoded, batch, done } = await readBatch(run, feed, some, left);
    first += done;
    if (encoded.length === 0) {
      staging.release();
      continue;
    }
    const decoding = run.device.jpegs!.decode(
      staging,
      encoded.map(({ file }) => file),
    );
    decoding.catch(() => {});
    const items = encoded.map(({ item }) => item);
    const results = await runPipelines(run, batch, staging, items);
    const { areFine, seconds } = await decoding;
    run.clock.addDecoded(seconds);
    deviceSeconds += seconds.upload + seconds.decode;
    for (const [i, { source, position, file, captured }] of encoded.entries()) {
      if (!areFine[i]) {
        left.push({ source, position });
        continue;
      }
      const { width, height } = file.frame;
      run.inputBytes += file.bytes;
      outcomes[position] = sourceOutcome(source, file.frame, { x: 0, y: 0, width, height }, results[i]!, captured);
    }
  }
  return { left, deviceSeconds };
}

/** Frames whose histograms one batch holds. */
function mostFrames({ pipelines, grid }: ShardRun): number {
  const cells = grid.rows * grid.columns;
  const each = pipelines.map(({ pipeline }) => 4 * pipeline.bins * pipeline.output.channels.length * cells);
  return Math.max(1, Math.floor(resultsLimitBytes / each.reduce((sum, bytes) => sum + bytes, 1)));
}

/** Reads as many of the frames as make a batch into staging memory; the caller runs or releases it. */
async function readBatch(
  run: ShardRun,
  feed: JpegFeed,
  frames: readonly AskedFrame[],
  left: AskedFrame[],
): Promise<{ staging: Staging; encoded: EncodedFrame[]; batch: Batch; done: number }> {
  const jpegs = run.device.jpegs!;
  const limits = limitsOf(run, jpegs, frames);
  const staging = await run.device.acquire(limits.bytes);
  try {
    run.signal.throwIfAborted();
    await jpegs.prepare();
    const files = frames.map(({ source: { uri, version } }) => ({ uri, version }));
    const read = await run.clock.time('read', () => feed.read(files, staging.bytes, limits));
    run.signal.throwIfAborted();
    const { maxStagingBytes } = run.device;
    const pipelines = run.pipelines.map(({ pipeline }) => pipeline);
    const batch = new Batch('u8', pipelines, { maxStagingBytes, batchBytes: maxStagingBytes });
    return { staging, encoded: place(run, batch, read, frames, left), batch, done: read.done };
  } catch (error) {
    staging.release();
    throw error;
  }
}

function limitsOf({ batchShare }: ShardRun, { maxBytes, batchBytes }: DeviceJpegs, frames: readonly AskedFrame[]) {
  const sizes = frames.map(({ source }) => sizeOf(source));
  const known = sizes.reduce<number>((sum, size) => sum + 4 * Math.ceil((size ?? maxBytes) / 4), 0);
  return { bytes: Math.min(known, maxBytes), planesBytes: batchBytes * batchShare };
}

/** Places the planes of what was read; the frames that cores have to look at are added to `left`. */
function place(
  run: ShardRun,
  batch: Batch,
  read: EncodedBatch,
  frames: readonly AskedFrame[],
  left: AskedFrame[],
): EncodedFrame[] {
  const plans = new Map<JpegFile['frame'], SharedPlan>();
  const encoded: EncodedFrame[] = [];
  let next = 0;
  for (const { position, offset, bytes, frame } of takenFiles(read)) {
    left.push(...frames.slice(next, position));
    next = position + 1;
    const item = tooSmall(frame, run) ? undefined : batch.add(planOf(run, plans, frame), false);
    if (!item) {
      left.push(frames[position]!);
      continue;
    }
    const plane = { offset: item.offset, stride: item.stride };
    const file = { frame, offset, bytes, plane };
    encoded.push({ ...frames[position]!, file, item, captured: read.captured.get(position) });
  }
  left.push(...frames.slice(next, read.done));
  return encoded;
}

function planOf(run: ShardRun, plans: Map<JpegFile['frame'], SharedPlan>, frame: JpegFile['frame']): SharedPlan {
  const known = plans.get(frame);
  if (known) return known;
  const { width, height } = frame;
  const plan = planTile(run, { x: 0, y: 0, width, height }, { width, height });
  plans.set(frame, plan);
  return plan;
}
