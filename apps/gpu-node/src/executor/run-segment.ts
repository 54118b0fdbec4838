import { sampleBytes } from '@halogrid/geometry';
import type { DecodedPicture, VideoFile } from '@halogrid/imaging';
import { lanePixels, type SharedItem } from '@halogrid/kernels';
import type { VideoSegment } from '@halogrid/proto';
import { twoAtOnce } from '@halogrid/threads';
import type { AskedFrame } from './asked-frame.ts';
import type { Batch } from './batch.ts';
import {
  computeBatch,
  emptyBatch,
  type FilledBatch,
  type FilledFrame,
  fillBatch,
  keepMaps,
  placeTile,
  planWhole,
  putOutcomes,
  type TilePlan,
} from './compute-tiles.ts';
import type { FrameOutcomes } from './frame-outcomes.ts';
import { requestOf, type SegmentFrames, withSegment } from './segment-frames.ts';
import { needsMap, needsPreview, tooSmall } from './shard-job.ts';
import type { ShardRun } from './shard-run.ts';

/**
 * Computes frames of a segment that a decoder decodes in order, straight into staging memory. A batch is read while the
 * one before is computed. Outcomes are put to the positions of their frames.
 */
export async function runSegment(
  run: ShardRun,
  asked: readonly AskedFrame[],
  segment: VideoSegment,
  file: VideoFile,
  outcomes: FrameOutcomes,
): Promise<void> {
  if (asked.length === 0) return;
  const request = { ...requestOf(run, asked, segment), lead: leadOf(run) };
  const runBatches = (handOver: (batch: Promise<void>) => Promise<void>) =>
    withSegment(run, asked, file, request, async (frames) => {
      const reader = new BatchReader(run, asked, frames);
      for (;;) {
        run.turn.signal.throwIfAborted();
        const batch = await reader.next();
        if (!batch) break;
        await handOver(runBatch(run, batch, outcomes));
      }
      run.turn.inputBytes += frames.inputBytes;
      frames.putRefused(outcomes);
    });
  await run.means.meters.video.during(() => twoAtOnce(runBatches));
}

async function runBatch(run: ShardRun, batch: FilledBatch<FilledFrame>, outcomes: FrameOutcomes): Promise<void> {
  const computed = await computeBatch(run, batch);
  await keepMaps(run, computed);
  putOutcomes(computed, outcomes);
}

/**
 * Reads batches of frames with the same size, type and range, and with dense results wanted for all or none. Staging
 * memory is held only while frames are copied, so that more segments than the device has batches can be decoded at the
 * same time.
 */
class BatchReader {
  readonly #run: ShardRun;
  readonly #asked: readonly AskedFrame[];
  readonly #frames: SegmentFrames;
  #next: DecodedPicture | undefined;

  constructor(run: ShardRun, asked: readonly AskedFrame[], frames: SegmentFrames) {
    this.#run = run;
    this.#asked = asked;
    this.#frames = frames;
  }

  /** The next frames from the decoder, as many as a batch holds; undefined if there are no more. */
  async next(): Promise<FilledBatch<FilledFrame> | undefined> {
    const first = await this.#peek();
    if (!first) return undefined;
    const { job, turn } = this.#run;
    turn.signal.throwIfAborted();
    const { pixel, isLimited } = first;
    const batch = emptyBatch(this.#run, pixel, { isLimited });
    const plan = planWhole(job, first);
    const ready = await turn.clock.time('decode', () => this.#frames.decoder.ready(this.#mostFrames(first)));
    const due = this.#asked.slice(first.position, first.position + ready);
    const items = this.#place(batch, plan, due, first);
    const hasPreviews = due.slice(0, items.length).some(({ source }) => needsPreview(source));
    return await fillBatch(this.#run, batch, hasPreviews, (bytes) => this.#read(bytes, plan, items, first));
  }

  /** The next frame that can be computed. */
  async #peek(): Promise<DecodedPicture | undefined> {
    while (!this.#next) {
      const frame = await this.#frames.next('decode');
      if (!frame) return undefined;
      const why = tooSmall(this.#run.job, frame) ?? this.#tooLarge(frame);
      if (why === undefined) this.#next = frame;
      else this.#frames.refuse(frame.position, why);
    }
    return this.#next;
  }

  #tooLarge(frame: DecodedPicture): string | undefined {
    const { job, means } = this.#run;
    const { width, height, pixel } = frame;
    if (emptyBatch(this.#run, pixel).add(planWhole(job, frame), true, { stride: strideOf(frame) })) return undefined;
    const limit = `the device takes at once (${means.device.maxStagingBytes} bytes)`;
    return `${width} x ${height} pixels and their results are more than ${limit}`;
  }

  #mostFrames({ width, height, pixel }: DecodedPicture): number {
    const { means, turn } = this.#run;
    const batchBytes = means.device.batchBytes * turn.batchShare;
    return Math.max(1, Math.floor(batchBytes / (width * height * sampleBytes[pixel])));
  }

  #place(batch: Batch, plan: TilePlan, due: readonly AskedFrame[], first: DecodedPicture): SharedItem[] {
    const { job } = this.#run;
    const items: SharedItem[] = [];
    for (const { source } of due) {
      const item = placeTile(job, batch, plan, source, { stride: strideOf(first) });
      if (!item) break;
      items.push(item);
    }
    return items;
  }

  async #read(
    bytes: Uint8Array,
    { size, rect }: TilePlan,
    items: readonly SharedItem[],
    first: DecodedPicture,
  ): Promise<FilledFrame[]> {
    const { job, turn } = this.#run;
    const { decoder } = this.#frames;
    const withMap = needsMap(job, this.#asked[first.position]!.source);
    const read: FilledFrame[] = [];
    for (const item of items) {
      const next = await this.#peek();
      if (!next || !isLike(next, first)) break;
      const { source, position } = this.#asked[next.position]!;
      if (needsMap(job, source) !== withMap) break;
      const { offset, stride, planeBytes } = item;
      const target = { bytes, offset, stride, channels: job.channels, planeBytes };
      await turn.clock.time('decode', () => decoder.luma(next, target));
      const { captured } = this.#frames;
      read.push({ source, position, size, rect, item, captured, mended: next.mended });
      this.#next = undefined;
      turn.signal.throwIfAborted();
    }
    return read;
  }
}

/** Whether two frames go into one batch. */
const isLike = (a: DecodedPicture, b: DecodedPicture): boolean =>
  a.width === b.width && a.height === b.height && a.pixel === b.pixel && a.isLimited === b.isLimited;

/** The row stride in staging memory, if the decoder has the same, so that a frame is copied at once. */
const strideOf = ({ stride, pixel }: DecodedPicture): number | undefined =>
  stride % (lanePixels * sampleBytes[pixel]) === 0 ? stride : undefined;

/** A side larger than any kernel. */
const largeSide = 4096;

/** Samples in front of each row in staging memory, measured by placing a large frame. */
function leadOf(run: ShardRun): number {
  const plan = planWhole(run.job, { width: largeSide, height: largeSide });
  return emptyBatch(run, 'u8').add(plan, false)?.offset ?? 0;
}
