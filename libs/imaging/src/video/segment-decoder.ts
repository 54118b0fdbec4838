import type { PixelType } from '@halogrid/geometry';
import type { PlaneTarget } from '../planes/plane-target.ts';
import type { GivenFrame, OrderReplies, Said } from './conversation.ts';
import type { HardwareFound, SegmentRequest } from './process/segment-request.ts';
import { mostFramesOut, roomBytes } from './process/video-protocol.ts';
import type { VideoFile } from './video-file.ts';
import { VideoReader } from './video-reader.ts';

/** A frame that can be taken. */
export interface DecodedPicture {
  kind: 'frame';
  position: number;
  width: number;
  height: number;
  pixel: PixelType;
  /** Gray, or red, green and blue. */
  planes: number;
  /** Whether it is the bytes of a JPEG, as one row of `width` bytes. */
  isEncoded: boolean;
  /** Whether it is luma of the limited range, which is not gray yet. */
  isLimited: boolean;
  /** Bytes from a row to the next; a target with the same stride gets all rows in one copy. */
  stride: number;
  /** A sentence that says what was removed from its bytes; absent if nothing was. */
  mended?: string;
}

/** The next message of a decoder. */
export type SegmentEvent = DecodedPicture | Extract<Said, { kind: 'bad' | 'created' | 'note' | 'end' }>;

/** The owner of a reader that decodes. */
export interface DecoderHost {
  /** The reader is free again, or has ended. */
  letGo(reader: VideoReader): void;
  /** Whether a line was not logged before. */
  isNew(line: string): boolean;
  hardware(found: HardwareFound): void;
}

const alone: DecoderHost = { letGo: (own) => void own.end(), isNew: () => true, hardware: () => {} };

/** A segment that another process decodes. It must be closed. */
export class SegmentDecoder {
  readonly #reader: VideoReader;
  readonly #conversation: OrderReplies;
  readonly #host: DecoderHost;
  /** The last frame that `next` gave, until its pixels are taken. */
  #frame: GivenFrame | undefined;
  #freed: number[] = [];
  #isClosed = false;

  /** `reader`: a free one; unless given, a new one is started. */
  constructor(file: VideoFile, request: SegmentRequest, reader = new VideoReader(), host = alone) {
    this.#reader = reader;
    this.#host = host;
    this.#conversation = reader.order(file, { kind: 'decode', request });
    this.#conversation.whenFull = () => this.#tellFreed();
    reader.memory?.use();
    void this.#conversation.over.then(() => this.#host.letGo(reader));
  }

  /** Rejects with InputError, and with DecoderBrokeError. The pixels of a frame that were not taken are dropped. */
  async next(): Promise<SegmentEvent> {
    this.#passOver();
    let said = await this.#heard();
    const mended = said.kind === 'mended' ? { mended: said.mended } : undefined;
    if (mended) said = await this.#heard();
    if (said.kind !== 'frame') return said as SegmentEvent;
    this.#frame = said;
    const { position, width, height, sampleBytes, planes, stride, encoded, limited } = said;
    const pixel = sampleBytes === 2 ? 'u16' : 'u8';
    const is = { isEncoded: encoded === 1, isLimited: limited === 1 };
    return { kind: 'frame', position, width, height, pixel, planes, stride, ...is, ...mended };
  }

  /**
   * Waits until `frames` frames have come, counting the one that `next` gave, or as many as fill half of the decoder's
   * room. Resolves with their number.
   */
  async ready(frames: number): Promise<number> {
    const room = this.#framesIn(1 / 2, this.#frame?.bytes ?? 1);
    this.#tellFreed();
    await this.#conversation.ready(Math.min(frames, room) - 1);
    return Math.min(frames, room, this.#conversation.frames + 1);
  }

  /** Copies the pixels of the frame that `next` gave to a target, in as many planes as the frame has. */
  async luma(picture: DecodedPicture, to: PlaneTarget): Promise<void> {
    const frame = this.#frame!;
    this.#frame = undefined;
    try {
      await this.#put(frame, frame.width * frame.sampleBytes, to);
    } finally {
      this.#free(frame);
    }
    if (picture.position !== frame.position) throw new Error('Another frame was read');
  }

  /** Ends whatever the process does for this segment. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (!this.#conversation.isOver) await this.#reader.end();
    this.#passOver();
    for (const said of this.#conversation.rest()) if (said.kind === 'frame') this.#free(said);
    this.#tellFreed();
    this.#reader.memory?.release();
    await this.#conversation.over;
  }

  async #put(frame: GivenFrame, rowBytes: number, to: PlaneTarget): Promise<void> {
    const { place, luma, stride, height, planes } = frame;
    for (let plane = 0; plane < planes; plane++) {
      const [from, at] = [plane * height * stride, to.offset + plane * to.planeBytes];
      if (luma) {
        for (let y = 0; y < height; y++)
          to.bytes.set(luma.subarray(from + y * stride, from + y * stride + rowBytes), at + y * to.stride);
        continue;
      }
      const memory = this.#reader.memory!;
      if (stride === to.stride) {
        await memory.copy(place + from, (height - 1) * stride + rowBytes, to.bytes, at);
        continue;
      }
      for (let y = 0; y < height; y++)
        await memory.copy(place + from + y * stride, rowBytes, to.bytes, at + y * to.stride);
    }
  }

  /** The next message that is not for the host. */
  async #heard(): Promise<Said> {
    for (;;) {
      const said = await this.#conversation.next();
      if (said.kind === 'hardware') this.#host.hardware(said);
      else if (said.kind !== 'note' || this.#host.isNew(said.line)) return said;
    }
  }

  #passOver(): void {
    if (this.#frame) this.#free(this.#frame);
    this.#frame = undefined;
  }

  /**
   * Tells the process of free places together, because each time costs a write: when the decoder waits for one, or when
   * a quarter of its room is free.
   */
  #free({ place, bytes }: GivenFrame): void {
    this.#freed.push(place);
    const isAwaited = this.#conversation.isFull;
    this.#conversation.taken();
    if (isAwaited || this.#freed.length >= this.#framesIn(1 / 4, bytes)) this.#tellFreed();
  }

  #tellFreed(): void {
    if (this.#freed.length > 0) this.#reader.free(this.#freed.splice(0));
  }

  /** The number of frames of that size in part of the decoder's room. */
  #framesIn(part: number, bytes: number): number {
    const room = Math.min(mostFramesOut, (this.#reader.memory?.bytes ?? roomBytes) / bytes);
    return Math.max(1, Math.floor(part * room));
  }
}
