import type { SharedItem } from '@halogrid/kernels';
import { formatOfName, InputError, isRemoteUri } from '@halogrid/sources';
import type { JpegFeed } from '../feed/jpeg-feed.ts';
import type { RawFeed } from '../feed/raw-feed.ts';
import { bytesOf, listedBytes } from './device-frames.ts';
import { type AskedFrame, type FrameBatch, type ListedFrame, openBatches, type PlacedFrame } from './open-batches.ts';
import { runEncoded } from './run-encoded.ts';
import { runRaw } from './run-raw.ts';
import {
  closeImage,
  failedOutcome,
  needsPreview,
  runOnDevice,
  type ShardRun,
  type SourceOutcome,
  settleAll,
  sourceOutcome,
  writeChunks,
  writeSourceChunk,
} from './shard-run.ts';
import type { LeasedSource } from './unpack-lease.ts';

/** Files of an encoded batch, which goes to one decoder as a whole; the device may take several times for it. */
const encodedFrames = 128;

/**
 * Computes whole frames; outcomes are in the order of `sources`. JPEGs are decoded by the device or by cores, whoever is done first, and
 * raw frames are read by threads, a batch at a time; cores decode all else, and what these leave.
 */
export async function runFrames(run: ShardRun, sources: readonly LeasedSource[]): Promise<SourceOutcome[]> {
  const outcomes = new Array<SourceOutcome>(sources.length);
  const frames = sources.map((source, position): ListedFrame => ({ source, position, fileBytes: listedBytes(source) }));
  const ways = Object.groupBy(frames, ({ source }) => wayOf(run, source));
  const { encoded = [], fetched = [], raw = [], others = [] } = ways;
  const { jpegs, raws } = run;
  const work: Promise<void>[] = [];
  for (const its of [encoded, fetched]) {
    for (let first = 0; first < its.length; first += encodedFrames) {
      work.push(runJpegs(run, jpegs!, its.slice(first, first + encodedFrames), outcomes));
    }
  }
  if (raws?.takes(raw.length)) work.push(runRawFirst(run, raws, raw, outcomes));
  else others.push(...raw);
  if (others.length > 0) work.push(runDecoded(run, others, outcomes));
  await settleAll(work);
  return outcomes;
}

/**
 * How a source is read: what cores need not decode, without its pixels in memory of theirs, which a preview shows. JPEGs of servers come by
 * connections of this thread.
 */
function wayOf(run: ShardRun, source: LeasedSource): 'encoded' | 'fetched' | 'raw' | 'others' {
  if (needsPreview(source)) return 'others';
  const format = formatOfName(source.uri);
  const isRemote = isRemoteUri(source.uri);
  if (format === 'jpeg' && run.jpegs?.isOn) return isRemote ? 'fetched' : 'encoded';
  const isRaw = format === 'pnm' && run.raws && run.channels === 'gray' && !run.wantsMap && !isRemote;
  return isRaw ? 'raw' : 'others';
}

/** Has threads read raw frames, and then cores those that they left. */
async function runRawFirst(
  run: ShardRun,
  feed: RawFeed,
  frames: readonly ListedFrame[],
  outcomes: SourceOutcome[],
): Promise<void> {
  const left = await runRaw(run, feed, frames, outcomes);
  if (left.length > 0) await runDecoded(run, left, outcomes);
}

/** Decodes JPEGs on the device or on cores, and then on cores the JPEGs that the device left. */
async function runJpegs(
  run: ShardRun,
  feed: JpegFeed,
  frames: readonly ListedFrame[],
  outcomes: SourceOutcome[],
): Promise<void> {
  let left: readonly AskedFrame[] = [];
  const bytes = bytesOf(frames);
  await feed.decode(frames.length, bytes, {
    device: async () => {
      const sum = await runEncoded(run, feed, frames, outcomes);
      left = sum.left;
      return sum;
    },
    cores: async () => {
      await runDecoded(run, frames, outcomes);
      return { done: bytes };
    },
  });
  if (left.length > 0) await runDecoded(run, left, outcomes);
}

/** Computes frames that cores decode. A batch is decoded while the one before is computed. */
async function runDecoded(run: ShardRun, frames: readonly AskedFrame[], outcomes: SourceOutcome[]): Promise<void> {
  const running: Promise<void>[] = [];
  try {
    for await (const batch of openBatches(run, frames, outcomes)) {
      const current = runBatch(run, batch, outcomes);
      current.catch(() => {});
      running.push(current);
      await running.at(-2);
    }
  } finally {
    await Promise.allSettled(running);
  }
  await Promise.all(running);
}

/** Decodes the batch straight into staging memory, computes the frames that could be decoded, and keeps what is wanted. */
async function runBatch(run: ShardRun, { frames, batch }: FrameBatch, outcomes: SourceOutcome[]): Promise<void> {
  let decoded: PlacedFrame[] = [];
  const fill = async (bytes: Uint8Array): Promise<SharedItem[]> => {
    decoded = await run.clock.time('decode', () => decodeFrames(run, frames, bytes, outcomes));
    await settleAll(
      decoded.map(({ source, image: { pixel }, whole, item }) =>
        writeSourceChunk(run, source, { size: whole, rect: whole, pixel }, bytes, item),
      ),
    );
    return decoded.map(({ item }) => item);
  };
  const isRead = frames.some(({ source }) => needsPreview(source));
  const compute = runOnDevice(run, batch, fill, isRead);
  const { items, release } = await compute.finally(() => settleAll(frames.map(({ image }) => closeImage(run, image))));
  await run.clock
    .time('encode', () =>
      settleAll(decoded.map(({ source, whole }, i) => writeChunks(run, source, whole, whole, items[i]!))),
    )
    .finally(release);
  for (const [i, { source, position, whole, image }] of decoded.entries()) {
    outcomes[position] = sourceOutcome(source, whole, whole, items[i]!, image.captured, image.mended);
  }
}

/** Decodes every frame into its place; returns those that could be decoded, the others get their outcome. */
async function decodeFrames(
  run: ShardRun,
  frames: readonly PlacedFrame[],
  bytes: Uint8Array,
  outcomes: SourceOutcome[],
): Promise<PlacedFrame[]> {
  const errors = await settleAll(frames.map((frame) => decodeFrame(run, frame, bytes)));
  for (const [i, { source, position }] of frames.entries()) {
    const error = errors[i];
    if (error) outcomes[position] = await failedOutcome(source, error);
  }
  return frames.filter((_, i) => !errors[i]);
}

async function decodeFrame(
  { channels, meters }: ShardRun,
  { image, whole, item }: PlacedFrame,
  bytes: Uint8Array,
): Promise<InputError | undefined> {
  try {
    const { offset, stride, planeBytes } = item;
    await meters.decode.during(() => image.decode(whole, { bytes, offset, stride, channels, planeBytes }));
    return undefined;
  } catch (error) {
    if (error instanceof InputError) return error;
    throw error;
  }
}
