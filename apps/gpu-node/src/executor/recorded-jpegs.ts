import { open } from 'node:fs/promises';
import type { DecodedPicture, SegmentDecoder, VideoFile } from '@halogrid/imaging';
import { JpegFrameReader } from '@halogrid/jpeg';
import type { VideoSegment } from '@halogrid/proto';
import { giveBackBytes, takeBytes } from '@halogrid/sources';
import type { CaptureTime } from '@halogrid/sources/capture-time';
import { JpegBatch } from '../feed/jpeg-batch.ts';
import { jpegLimits, mostFrames } from './device-frames.ts';
import { computeEncoded, placeEncoded } from './run-encoded.ts';
import { type ShardRun, type SourceOutcome, settleAll, sourceError } from './shard-run.ts';
import type { LeasedSource } from './unpack-lease.ts';

/** A frame as the JPEG that it is. */
interface RecordedJpeg {
  position: number;
  bytes: Buffer<ArrayBuffer>;
}

/** Frames of 1080p that a device decodes at once. */
const batchFrames = 64;
const startOfImage = Buffer.from([0xff, 0xd8, 0xff]);
/** What containers have before a packet where they say that it begins. */
const mostBefore = 64;

const reader = new JpegFrameReader();

/**
 * Whether the packets of a video on this machine look like JPEGs. It decides about who is asked first and nothing else: what decodes the
 * video knows its codec.
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

/** Computes the frames of a segment of MJPEG that a device decodes. */
export class RecordedJpegs {
  readonly #run: ShardRun;
  readonly #sources: readonly LeasedSource[];
  readonly #outcomes: SourceOutcome[];
  readonly #sum = { done: 0, seconds: 0 };
  #captured: CaptureTime | undefined;
  #waiting: RecordedJpeg[] = [];
  #waitingBytes = 0;

  /** Outcomes are put to the places of their sources. */
  constructor(run: ShardRun, sources: readonly LeasedSource[], outcomes: SourceOutcome[]) {
    this.#run = run;
    this.#sources = sources;
    this.#outcomes = outcomes;
  }

  /**
   * Takes all that `decoder` gives of an order for encoded frames. Resolves with the bytes that the device decoded and the seconds that took it;
   * sources without an outcome are left to cores.
   */
  async take(decoder: SegmentDecoder): Promise<{ done: number; seconds: number }> {
    const { clock, signal, device } = this.#run;
    const running: Promise<void>[] = [];
    const bad = new Map<number, string>();
    try {
      for (;;) {
        const event = await clock.time('read', () => decoder.next());
        signal.throwIfAborted();
        // The pixels of a frame are not for this: the video is none of MJPEG.
        if (event.kind === 'end' || (event.kind === 'frame' && !event.isEncoded)) break;
        if (event.kind === 'bad') bad.set(event.position, event.error);
        else if (event.kind === 'created') this.#captured = { localMs: event.ms, offsetMinutes: 0 };
        else if (event.kind === 'note') this.#run.note(event.line);
        else {
          await this.#keep(decoder, event);
          const isFull = this.#waiting.length >= Math.min(batchFrames, mostFrames(this.#run));
          if (!isFull && this.#waitingBytes < device.jpegs!.maxBytes) continue;
          running.push(this.#compute());
          // A batch is read while the one before is computed.
          await running.at(-2);
        }
      }
      running.push(this.#compute());
    } finally {
      await Promise.allSettled(running);
      for (const { bytes } of this.#waiting.splice(0)) giveBackBytes(bytes);
    }
    await settleAll(running);
    for (const [position, error] of bad) {
      this.#outcomes[position] = sourceError(this.#sources[position]!, 'decode', error);
    }
    return this.#sum;
  }

  async #keep(decoder: SegmentDecoder, picture: DecodedPicture): Promise<void> {
    const { width: length, position } = picture;
    const bytes = takeBytes(length);
    this.#waiting.push({ position, bytes });
    this.#waitingBytes += length;
    await decoder.luma(picture, { bytes, offset: 0, stride: length, channels: 'gray', planeBytes: length });
  }

  /** Computes what waits, in as many batches as that takes. */
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

  /** Resolves with how many of the frames are done with. */
  async #computeBatch(jpegs: readonly RecordedJpeg[]): Promise<number> {
    const { device, channels, signal } = this.#run;
    const wanted = jpegs.reduce((sum, { bytes }) => sum + bytes.length + 4, 0);
    const limits = jpegLimits(this.#run, wanted);
    const staging = await device.acquire(limits.bytes);
    let done = 0;
    let batch: Parameters<typeof computeEncoded>[1];
    try {
      signal.throwIfAborted();
      await device.jpegs!.prepare(channels);
      const taken = new JpegBatch(staging.bytes, limits, reader);
      while (done < jpegs.length && taken.take(done, jpegs[done]!.bytes)) done++;
      // When a frame was taken is said by the recording.
      const captured = new Map(this.#captured && jpegs.map((_, i) => [i, this.#captured!]));
      const read = { ...taken.end(done), captured };
      batch = { staging, read, ...placeEncoded(this.#run, read) };
    } catch (error) {
      staging.release();
      throw error;
    }
    const frames = jpegs.map(({ position }) => ({ source: this.#sources[position]!, position }));
    const { bytes, seconds } = await computeEncoded(this.#run, batch, frames, this.#outcomes);
    this.#sum.done += bytes;
    this.#sum.seconds += seconds;
    return done;
  }
}
