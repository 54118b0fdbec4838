import { type Pipeline, pipelineOver, placeSharedItem, type SharedItem } from '@halogrid/kernels';
import type { Staging } from '../devices/device.ts';
import type { RawFeed } from '../feed/raw-feed.ts';
import { type RawBatch, rawWords } from '../feed/raw-orders.ts';
import { mostFrames, PlansBySize } from './device-frames.ts';
import type { AskedFrame, ListedFrame } from './open-batches.ts';
import { minSideOf, runPipelines, type ShardRun, type SourceOutcome, sourceOutcome } from './shard-run.ts';

/** Raw frames that were read into `staging`. */
interface ReadBatch {
  staging: Staging;
  read: RawBatch;
  items: readonly SharedItem[];
}

/**
 * Computes raw frames whose planes threads read, a batch at a time. Resolves with those that they leave to cores: they are of another kind,
 * or not there as they were planned.
 */
export async function runRaw(
  run: ShardRun,
  feed: RawFeed,
  frames: readonly ListedFrame[],
  outcomes: SourceOutcome[],
): Promise<AskedFrame[]> {
  const left: AskedFrame[] = [];
  const most = mostFrames(run);
  const pipelines = run.pipelines.map(({ pipeline }) => pipelineOver('u8', pipeline));
  for (let first = 0; first < frames.length; ) {
    const some = frames.slice(first, first + most);
    const batch = await readBatch(run, feed, some);
    const looked = some.slice(0, batch.read.done);
    first += looked.length;
    const done = await computeBatch(run, pipelines, batch, looked, outcomes);
    if (done.size < looked.length) left.push(...looked.filter((_, position) => !done.has(position)));
  }
  return left;
}

/** Reads as many of the frames as make a batch into staging memory, which is then the caller's to run or release. */
async function readBatch(run: ShardRun, feed: RawFeed, frames: readonly ListedFrame[]): Promise<ReadBatch> {
  const { device, batchShare, clock, signal } = run;
  // Rows of few pixels take more room in planes than in files.
  const wanted = frames.reduce((sum, { fileBytes }) => sum + 2 * fileBytes + 256, 0);
  const planesBytes = Math.min(wanted, Math.floor(device.batchBytes * batchShare), device.maxStagingBytes);
  const staging = await device.acquire(planesBytes);
  try {
    signal.throwIfAborted();
    const files = frames.map(({ source }) => source);
    const limits = { planesBytes, minSide: minSideOf(run) };
    const read = await clock.time('read', () => feed.read(files, staging.bytes, limits));
    signal.throwIfAborted();
    return { staging, read, items: place(run, read) };
  } catch (error) {
    staging.release();
    throw error;
  }
}

/** Computes a batch. Resolves with the positions among `frames` of those that were read, which have their outcome then. */
async function computeBatch(
  run: ShardRun,
  pipelines: readonly Pipeline[],
  { staging, read: { taken, inputBytes }, items }: ReadBatch,
  frames: readonly AskedFrame[],
  outcomes: SourceOutcome[],
): Promise<ReadonlySet<number>> {
  const done = new Set<number>();
  if (items.length === 0) {
    staging.release();
    return done;
  }
  const results = await runPipelines(run, { withMap: false, pipelines }, staging, items);
  for (const [i, result] of results.items.entries()) {
    const [position, width, height] = wordsOf(taken, i);
    const { source, position: place } = frames[position]!;
    const whole = { x: 0, y: 0, width, height };
    outcomes[place] = sourceOutcome(source, whole, whole, result, undefined);
    done.add(position);
  }
  run.inputBytes += inputBytes;
  return done;
}

/** What is computed of the planes that were read. Throws RangeError where they do not lie as kernels read them. */
function place(run: ShardRun, { taken }: RawBatch): SharedItem[] {
  const plans = new PlansBySize(run);
  const channels = run.pipelines[0]!.pipeline.input.length;
  return Array.from({ length: taken.length / rawWords }, (_, i) => {
    const [, width, height, offset] = wordsOf(taken, i);
    const { item } = placeSharedItem(plans.of({ width, height }), channels, offset);
    if (item.offset !== offset) throw new RangeError(`A plane was read to byte ${offset}, not to ${item.offset}`);
    return item;
  });
}

/** Position, width, height and first byte of a frame. */
const wordsOf = (taken: Uint32Array, frame: number): [number, number, number, number] => {
  const at = frame * rawWords;
  return [taken[at]!, taken[at + 1]!, taken[at + 2]!, taken[at + 3]!];
};
