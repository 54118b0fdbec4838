import { pipelineOver, placeSharedItem } from '@halogrid/kernels';
import type { RawFeed } from '../feed/raw-feed.ts';
import { type RawBatch, rawWords } from '../feed/raw-orders.ts';
import type { ListedFrame } from './asked-frame.ts';
import { computeBatch, type FilledFrame, putOutcomes } from './compute-tiles.ts';
import { mostFrames, PlansBySize } from './device-frames.ts';
import type { FrameOutcomes } from './frame-outcomes.ts';
import { minSideOf, type ShardJob } from './shard-job.ts';
import type { ShardRun } from './shard-run.ts';
import { fillStaging } from './staging.ts';

/**
 * Computes raw frames whose planes threads read, a batch at a time. Frames of another kind, and frames that changed
 * since they were planned, get no outcome.
 */
export async function runRaw(
  run: ShardRun,
  feed: RawFeed,
  frames: readonly ListedFrame[],
  outcomes: FrameOutcomes,
): Promise<void> {
  const { job, turn } = run;
  const most = mostFrames(job);
  const batch = { withMap: false, pipelines: job.pipelines.map(({ pipeline }) => pipelineOver('u8', pipeline)) };
  for (let first = 0; first < frames.length; ) {
    const { staging, read, tiles } = await readBatch(run, feed, frames.slice(first, first + most));
    putOutcomes(await computeBatch(run, { batch, staging, tiles }), outcomes);
    turn.inputBytes += read.inputBytes;
    first += read.done;
  }
}

/** Reads frames into staging memory, as many as make a batch. The caller must compute the batch. */
async function readBatch(run: ShardRun, feed: RawFeed, frames: readonly ListedFrame[]) {
  const { job, means, turn } = run;
  const { device } = means;
  // Rows of few pixels take more room in planes than in files.
  const wanted = frames.reduce((sum, { fileBytes }) => sum + 2 * fileBytes + 256, 0);
  const planesBytes = Math.min(wanted, Math.floor(device.batchBytes * turn.batchShare), device.maxStagingBytes);
  const limits = { planesBytes, minSide: minSideOf(job) };
  const files = frames.map(({ source }) => source);
  return await fillStaging(run, planesBytes, async ({ bytes }) => {
    const read = await turn.clock.time('read', () => feed.read(files, bytes, limits));
    return { read, tiles: place(job, read, frames) };
  });
}

/** The frames that were read. Throws RangeError if their planes do not lie as kernels read them. */
function place(job: ShardJob, { taken }: RawBatch, frames: readonly ListedFrame[]): FilledFrame[] {
  const plans = new PlansBySize(job);
  const channels = job.pipelines[0]!.pipeline.input.length;
  return Array.from({ length: taken.length / rawWords }, (_, i) => {
    const [nth, width, height, offset] = wordsOf(taken, i);
    const plan = plans.of({ width, height });
    const { item } = placeSharedItem(plan, channels, offset);
    if (item.offset !== offset) throw new RangeError(`A plane was read to byte ${offset}, not to ${item.offset}`);
    const { source, position } = frames[nth]!;
    return { source, position, size: plan.size, rect: plan.rect, item };
  });
}

/** The frame's index among the requested ones, its width and height, and its first byte. */
const wordsOf = (taken: Uint32Array, frame: number): [number, number, number, number] => {
  const at = frame * rawWords;
  return [taken[at]!, taken[at + 1]!, taken[at + 2]!, taken[at + 3]!];
};
