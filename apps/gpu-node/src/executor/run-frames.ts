import type { SharedItem } from '@halogrid/kernels';
import type { Source } from '@halogrid/proto';
import { InputError } from '@halogrid/sources';
import type { JpegFeed } from '../feed/jpeg-feed.ts';
import { type AskedFrame, type FrameBatch, openBatches, type PlacedFrame } from './open-batches.ts';
import { bytesOf, isForDevice, runEncoded } from './run-encoded.ts';
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

/** Files of an encoded batch, which goes to one decoder as a whole; the device may take several times for it. */
const encodedFrames = 128;

/**
 * Computes whole frames; outcomes are in the order of `sources`. JPEGs are decoded by the device or by cores, whoever is done first;
 * cores decode all else, and what the device is in doubt of.
 */
export async function runFrames(run: ShardRun, sources: readonly Source[]): Promise<SourceOutcome[]> {
  const outcomes = new Array<SourceOutcome>(sources.length);
  const frames = sources.map((source, position) => ({ source, position }));
  const { feed } = run;
  if (!feed?.isOn) {
    await runDecoded(run, frames, outcomes);
    return outcomes;
  }
  const { encoded = [], others = [] } = Object.groupBy(frames, ({ source }) =>
    isForDevice(run, source) ? 'encoded' : 'others',
  );
  const onCores: AskedFrame[] = [];
  const work: Promise<void>[] = [];
  for (let first = 0; first < encoded.length; first += encodedFrames) {
    const some = encoded.slice(first, first + encodedFrames);
    if (feed.choose(some.length, bytesOf(some)) === 'device') work.push(runOnBoth(run, feed, some, outcomes));
    else onCores.push(...some);
  }
  work.push(runOnCores(run, feed, onCores, others, outcomes));
  await settleAll(work);
  return outcomes;
}

/** Has cores decode JPEGs, which tells how fast they are, and others. */
async function runOnCores(
  run: ShardRun,
  feed: JpegFeed,
  jpegs: readonly AskedFrame[],
  others: readonly AskedFrame[],
  outcomes: SourceOutcome[],
): Promise<void> {
  const done = bytesOf(jpegs);
  await feed.during('cores', done, async () => {
    await runDecoded(run, [...jpegs, ...others], outcomes);
    return { done };
  });
}

/** Has the device decode frames, and then cores those that it left. */
async function runOnBoth(
  run: ShardRun,
  feed: JpegFeed,
  frames: readonly AskedFrame[],
  outcomes: SourceOutcome[],
): Promise<void> {
  const { left } = await feed.during('device', bytesOf(frames), () => runEncoded(run, feed, frames, outcomes));
  await runDecoded(run, left, outcomes);
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
  const items = await compute.finally(() => settleAll(frames.map(({ image }) => closeImage(run, image))));
  await run.clock.time('encode', () =>
    settleAll(decoded.map(({ source, whole }, i) => writeChunks(run, source, whole, whole, items[i]!))),
  );
  for (const [i, { source, position, whole, image }] of decoded.entries()) {
    outcomes[position] = sourceOutcome(source, whole, whole, items[i]!, image.captured);
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
