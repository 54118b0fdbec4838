import { open } from 'node:fs/promises';
import type { DecodedPicture, VideoFile } from '@halogrid/imaging';
import { JpegFrameReader } from '@halogrid/jpeg';
import type { VideoSegment } from '@halogrid/proto';
import { giveBackBytes, takeBytes } from '@halogrid/sources';
import { twoAtOnce } from '@halogrid/threads';
import { JpegBatch } from '../feed/jpeg-batch.ts';
import type { WorkDone } from '../feed/work-rate.ts';
import type { AskedFrame } from './asked-frame.ts';
import { jpegLimits, mostFrames } from './device-frames.ts';
import type { FrameOutcomes } from './frame-outcomes.ts';
import { computeEncoded, type DecodedBytes, placeEncoded } from './run-encoded.ts';
import { requestOf, type SegmentFrames, withSegment } from './segment-frames.ts';
import type { ShardRun } from './shard-run.ts';
import { fillStaging } from './staging.ts';

/** A frame of a recording as a JPEG. */
interface RecordedJpeg extends AskedFrame {
  bytes: Buffer<ArrayBuffer>;
}

/** Frames of 1080p that a device decodes at once. */
const batchFrames = 64;
const startOfImage = Buffer.from([0xff, 0xd8, 0xff]);
/** The most bytes of container headers between a packet's stated position and its data. */
const mostBefore = 64;

const reader = new JpegFrameReader();

/**
 * Whether the packets of a video on this machine look like JPEGs. This only decides which decoder is tried first: the
 * video decoder knows the real codec.
 */
export async function hasJpegs({ access }: VideoFile, { position }: VideoSegment): Promise<boolean> {
  if (!('path' in access) || position === undefined || position < 0) return false;
  const file = await open(access.path).catch(() => undefined);
  if (!file) return false;
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(mostBefore), 0, mostBefore, position);
    return buffer.subarray(0, bytesRead).includes(startOfImage);
  } catch {
    return false;
  } finally {
    await file.close();
  }
}

/**
 * Computes frames of a segment of MJPEG that a device decodes. Outcomes are put to the positions of their frames; cores
 * compute frames without one.
 */
export async function runRecordedJpegs(
  run: ShardRun,
  asked: readonly AskedFrame[],
  segment: VideoSegment,
  file: VideoFile,
  outcomes: FrameOutcomes,
): Promise<WorkDone> {
  if (asked.length === 0) return { done: 0 };
  const request = { ...requestOf(run, asked, segment), encoded: true, hwaccel: '' };
  return await withSegment(run, asked, file, request, (frames) =>
    run.means.meters.video.during(async () => {
      const done = await new RecordedJpegs(run, asked, frames, outcomes).run();
      frames.putRefused(outcomes);
      return done;
    }),
  );
}

class RecordedJpegs {
  readonly #run: ShardRun;
  readonly #asked: readonly AskedFrame[];
  readonly #frames: SegmentFrames;
  readonly #outcomes: FrameOutcomes;
  readonly #sum = { done: 0, seconds: 0 };
  #waiting: RecordedJpeg[] = [];
  #waitingBytes = 0;

  constructor(run: ShardRun, asked: readonly AskedFrame[], frames: SegmentFrames, outcomes: FrameOutcomes) {
    this.#run = run;
    this.#asked = asked;
    this.#frames = frames;
    this.#outcomes = outcomes;
  }

  async run(): Promise<DecodedBytes> {
    try {
      await twoAtOnce((handOver) => this.#take(handOver));
    } finally {
      for (const { bytes } of this.#waiting.splice(0)) giveBackBytes(bytes);
    }
    return this.#sum;
  }

  /** Takes all packets that the decoder gives. A batch is read while the one before is computed. */
  async #take(handOver: (batch: Promise<void>) => Promise<void>): Promise<void> {
    const { job, means, turn } = this.#run;
    const mostWaiting = Math.min(batchFrames, mostFrames(job));
    for (;;) {
      const frame = await this.#frames.next('read');
      turn.signal.throwIfAborted();
      // Decoded frames cannot be used here: the video is not MJPEG.
      if (!frame?.isEncoded) break;
      await this.#keep(frame);
      const isFull = this.#waiting.length >= mostWaiting || this.#waitingBytes >= means.device.jpegs!.maxBytes;
      if (isFull) await handOver(this.#compute());
    }
    await handOver(this.#compute());
  }

  async #keep(picture: DecodedPicture): Promise<void> {
    const { width: length, position: place } = picture;
    const bytes = takeBytes(length);
    this.#waiting.push({ ...this.#asked[place]!, bytes });
    this.#waitingBytes += length;
    const target = { bytes, offset: 0, stride: length, channels: 'gray', planeBytes: length } as const;
    await this.#frames.decoder.luma(picture, target);
  }

  /** Computes the waiting frames, in as many batches as needed. */
  async #compute(): Promise<void> {
    const jpegs = this.#waiting;
    this.#waiting = [];
    this.#waitingBytes = 0;
    try {
      for (let first = 0; first < jpegs.length; ) first += await this.#computeBatch(jpegs.slice(first));
    } finally {
      for (const { bytes } of jpegs) giveBackBytes(bytes);
    }
  }

  /** Resolves with the number of finished frames. */
  async #computeBatch(jpegs: readonly RecordedJpeg[]): Promise<number> {
    const { job, means } = this.#run;
    const wanted = jpegs.reduce((sum, { bytes }) => sum + bytes.length + 4, 0);
    const limits = jpegLimits(this.#run, wanted);
    const batch = await fillStaging(this.#run, limits.bytes, async ({ bytes }) => {
      await means.device.jpegs!.prepare(job.channels);
      const taken = new JpegBatch(bytes, limits, reader);
      let done = 0;
      while (done < jpegs.length && taken.take(done, jpegs[done]!.bytes)) done++;
      // The recording says when a frame was taken.
      const { captured } = this.#frames;
      const read = { ...taken.end(done), captured: new Map(captured && jpegs.map((_, i) => [i, captured])) };
      return { read, ...placeEncoded(this.#run, read, jpegs) };
    });
    const { done, seconds } = await computeEncoded(this.#run, batch, this.#outcomes);
    this.#sum.done += done;
    this.#sum.seconds += seconds;
    return batch.read.done;
  }
}
