import { excludeShared } from '@halogrid/kernels';
import { namesNoData } from '@halogrid/proto/no-data';
import { formatOfName, InputError, isRemoteUri } from '@halogrid/sources';
import { settleAll, twoAtOnce } from '@halogrid/threads';
import type { JpegFeed } from '../feed/jpeg-feed.ts';
import type { RawFeed } from '../feed/raw-feed.ts';
import { type AskedFrame, type ListedFrame, leftOf } from './asked-frame.ts';
import type { Batch } from './batch.ts';
import { computeBatch, fillBatch, keepMaps, putOutcomes } from './compute-tiles.ts';
import { bytesOf, listedBytes } from './device-frames.ts';
import type { FrameOutcomes } from './frame-outcomes.ts';
import { noDataOf, noDataPlanes } from './no-data-of.ts';
import { type FrameBatch, openBatches, type PlacedFrame } from './open-batches.ts';
import { closeImage, decodeRegion, remarksOn } from './open-source.ts';
import { readMask } from './read-mask.ts';
import { runEncoded } from './run-encoded.ts';
import { runRaw } from './run-raw.ts';
import { needsPreview } from './shard-job.ts';
import type { ShardRun } from './shard-run.ts';
import { errorOf } from './source-errors.ts';
import type { LeasedSource } from './unpack-lease.ts';

/** Files of an encoded batch, which goes to one decoder as a whole; the device may need several dispatches for it. */
const encodedFrames = 128;

/**
 * Computes the whole frames of `sources`. JPEGs are decoded by the device or by cores, whichever would finish earlier.
 * Threads read raw frames, a batch at a time. Cores decode all other frames, and those that the device or the threads
 * leave.
 */
export async function runFrames(
  run: ShardRun,
  sources: readonly LeasedSource[],
  outcomes: FrameOutcomes,
): Promise<void> {
  const frames = sources.map((source, position): ListedFrame => ({ source, position, fileBytes: listedBytes(source) }));
  const ways = Object.groupBy(frames, ({ source }) => wayOf(run, source));
  const { encoded = [], fetched = [], raw = [], others = [] } = ways;
  const { jpegs, raws } = run.means;
  const work: Promise<void>[] = [];
  for (const its of [encoded, fetched]) {
    for (let first = 0; first < its.length; first += encodedFrames) {
      work.push(runJpegs(run, jpegs!, its.slice(first, first + encodedFrames), outcomes));
    }
  }
  if (raws?.takes(raw.length)) work.push(runRawFirst(run, raws, raw, outcomes));
  else others.push(...raw);
  work.push(runDecoded(run, others, outcomes));
  await settleAll(work);
}

/**
 * How a source is read. Frames with a preview are left to cores, because only cores have the pixels that it shows; so
 * are all frames of a job that reads bands, scaled samples or levels, because only opening an image tells whether it
 * has them. JPEGs on servers are read over connections of this thread. Only cores tell pixels without a value.
 */
function wayOf({ job, means }: ShardRun, source: LeasedSource): 'encoded' | 'fetched' | 'raw' | 'others' {
  if (needsPreview(source) || job.read || source.mask || namesNoData(job.noData)) return 'others';
  const format = formatOfName(source.uri);
  const isRemote = isRemoteUri(source.uri);
  if (format === 'jpeg' && means.jpegs?.isOn) return isRemote ? 'fetched' : 'encoded';
  const isRaw = format === 'pnm' && means.raws && job.channels === 'gray' && !job.wantsMap && !isRemote;
  return isRaw ? 'raw' : 'others';
}

/** Has threads read raw frames, and then cores the frames that the threads left. */
async function runRawFirst(
  run: ShardRun,
  feed: RawFeed,
  frames: readonly ListedFrame[],
  outcomes: FrameOutcomes,
): Promise<void> {
  await runRaw(run, feed, frames, outcomes);
  await runDecoded(run, leftOf(frames, outcomes), outcomes);
}

/** Decodes JPEGs on the device or on cores, and then on cores the JPEGs that the device left. */
async function runJpegs(
  run: ShardRun,
  feed: JpegFeed,
  frames: readonly ListedFrame[],
  outcomes: FrameOutcomes,
): Promise<void> {
  const bytes = bytesOf(frames);
  await feed.decode(frames.length, bytes, {
    device: () => runEncoded(run, feed, frames, outcomes),
    cores: async () => {
      await runDecoded(run, frames, outcomes);
      return { done: bytes };
    },
  });
  await runDecoded(run, leftOf(frames, outcomes), outcomes);
}

/** Computes frames that cores decode. A batch is decoded while the one before is computed. */
async function runDecoded(run: ShardRun, frames: readonly AskedFrame[], outcomes: FrameOutcomes): Promise<void> {
  if (frames.length === 0) return;
  await twoAtOnce(async (handOver) => {
    for await (const batch of openBatches(run, frames, outcomes)) await handOver(runBatch(run, batch, outcomes));
  });
}

/**
 * Decodes the batch straight into staging memory, computes the frames that could be decoded, and writes wanted maps.
 */
async function runBatch(run: ShardRun, { frames, batch }: FrameBatch, outcomes: FrameOutcomes): Promise<void> {
  const { clock } = run.turn;
  const hasPreviews = frames.some(({ source }) => needsPreview(source));
  const decode = (bytes: Uint8Array) => clock.time('decode', () => decodeFrames(run, batch, frames, bytes, outcomes));
  const closeAll = () => settleAll(frames.map(({ image }) => closeImage(run.turn, image)));
  const filling = fillBatch(run, batch, hasPreviews, decode);
  const computed = await filling.then((filled) => computeBatch(run, filled)).finally(closeAll);
  await keepMaps(run, computed);
  putOutcomes(computed, outcomes);
}

/** Decodes every frame into its place; returns those that could be decoded, the others get their outcome. */
async function decodeFrames(
  run: ShardRun,
  batch: Batch,
  frames: readonly PlacedFrame[],
  bytes: Uint8Array,
  outcomes: FrameOutcomes,
): Promise<PlacedFrame[]> {
  const errors = await settleAll(frames.map((frame) => decodeFrame(run, batch, frame, bytes)));
  for (const [i, { source, position }] of frames.entries()) {
    const error = errors[i];
    if (error) outcomes.fail(position, await errorOf(source, error));
  }
  const decoded = frames.filter((_, i) => !errors[i]);
  return decoded.map((frame) => {
    const { captured, place } = frame.image;
    return { ...frame, captured, place, mended: remarksOn(run, frame.image) };
  });
}

async function decodeFrame(
  run: ShardRun,
  { pipelines }: Batch,
  { source, image, plan, rect, item }: PlacedFrame,
  bytes: Uint8Array,
): Promise<InputError | undefined> {
  try {
    const value = noDataOf(run.job, image);
    const planes = value === undefined ? undefined : noDataPlanes(run.job, plan.stored);
    await decodeRegion(run, image, rect, { bytes, ...item, noData: planes && { value: value!, planes, x: 0, y: 0 } });
    const masked = source.mask && (await readMask(run, source, source.mask, plan));
    excludeShared(pipelines, plan, item, { noData: planes, masked });
    return undefined;
  } catch (error) {
    if (error instanceof InputError) return error;
    throw error;
  }
}
