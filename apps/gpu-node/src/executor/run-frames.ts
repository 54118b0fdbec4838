import { InputError } from '@halogrid/imaging';
import type { Source } from '@halogrid/proto';
import { type FrameBatch, openBatches, type PlacedFrame } from './open-batches.ts';
import { settleAll } from './settle-all.ts';
import {
  closeImage,
  needsCodes,
  runOnDevice,
  type ShardRun,
  type SourceOutcome,
  sourceError,
  sourceResult,
  writeChunks,
} from './shard-run.ts';

/** Computes whole frames; outcomes are in the order of `sources`. A batch is decoded while the one before is computed. */
export async function runFrames(run: ShardRun, sources: readonly Source[]): Promise<SourceOutcome[]> {
  const outcomes = new Array<SourceOutcome>(sources.length);
  const running: Promise<void>[] = [];
  try {
    for await (const batch of openBatches(run, sources, outcomes)) {
      const current = runBatch(run, batch, outcomes);
      current.catch(() => {});
      running.push(current);
      await running.at(-2);
    }
  } finally {
    await Promise.allSettled(running);
  }
  await Promise.all(running);
  return outcomes;
}

/** Decodes the batch straight into staging memory, computes the frames that could be decoded, and keeps their codes. */
async function runBatch(run: ShardRun, { frames, stagingBytes }: FrameBatch, outcomes: SourceOutcome[]): Promise<void> {
  let decoded: PlacedFrame[] = [];
  const withMap = frames.some(({ source }) => needsCodes(run, source));
  const compute = runOnDevice(run, stagingBytes, withMap, async (bytes) => {
    decoded = await run.clock.time('decode', () => decodeFrames(frames, bytes, outcomes));
    return decoded.map(({ item }) => item);
  });
  const items = await compute.finally(() => settleAll(frames.map(({ image }) => closeImage(run, image))));
  await run.clock.time('encode', () =>
    settleAll(decoded.map(({ source, whole }, i) => writeChunks(run, source, whole, whole, items[i]!))),
  );
  for (const [i, { source, position, whole }] of decoded.entries()) {
    outcomes[position] = sourceResult(source, whole, whole, items[i]!);
  }
}

/** Decodes every frame into its place; returns those that could be decoded, the others get their outcome. */
async function decodeFrames(
  frames: readonly PlacedFrame[],
  bytes: Uint8Array,
  outcomes: SourceOutcome[],
): Promise<PlacedFrame[]> {
  const errors = await settleAll(frames.map((frame) => decodeFrame(frame, bytes)));
  return frames.filter(({ source, position }, i) => {
    const error = errors[i];
    if (error) outcomes[position] = sourceError(source, error.stage, error.message);
    return !error;
  });
}

async function decodeFrame({ image, whole, item }: PlacedFrame, bytes: Uint8Array): Promise<InputError | undefined> {
  try {
    await image.decode(whole, bytes, item.offset, item.stride);
    return undefined;
  } catch (error) {
    if (error instanceof InputError) return error;
    throw error;
  }
}
