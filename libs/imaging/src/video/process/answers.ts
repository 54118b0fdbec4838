import { writeSync } from 'node:fs';
import { sampleBytes } from '@halogrid/geometry';
import { type FramePixels, packedPixels } from './frame-pixels.ts';
import { FrameRoom } from './frame-room.ts';
import { OrderReader } from './orders.ts';
import {
  aliveRecord,
  fullRecord,
  headFields,
  inline,
  messageRecord,
  mostFramesOut,
  type RecordHead,
  roomBytes,
  type VideoMessage,
} from './video-protocol.ts';

/** How often a process at work says so, if it has nothing else to say. */
const aliveEachMs = 1000;
/** Heads of frames in memory are written together within this time, because each write wakes the other side. */
const togetherMs = 10;
/** Rows of luma begin at multiples of this, counted in samples, if the order wants them as a device needs them. */
const rowSamples = 16;

/**
 * Writes the answers to orders. It waits if too many frames have not been taken, which keeps a decoder from running
 * ahead.
 */
export class Answers {
  readonly orders = new OrderReader((places) => this.#free(places));
  readonly #memory: Uint8Array | undefined;
  readonly #roomBytes: number;
  readonly #room: FrameRoom;
  #framesOut = 0;
  #inlineOut = 0;
  #saidMs = 0;
  #heads: Uint8Array[] = [];

  /** `memory` is mapped by the other side as well; without it all luma goes through the pipe. */
  constructor(memory: Uint8Array | undefined) {
    this.#memory = memory;
    this.#roomBytes = memory?.length ?? roomBytes;
    this.#room = new FrameRoom(this.#roomBytes);
  }

  message(message: VideoMessage): void {
    const text = Buffer.from(JSON.stringify(message));
    this.#say({ position: messageRecord, bytes: text.length }, text);
  }

  /** Call it when something begins. */
  begun(): void {
    this.#say({ position: aliveRecord });
  }

  /** Call it whenever something has been done. */
  alive(): void {
    if (performance.now() - this.#saidMs > aliveEachMs) this.#say({ position: aliveRecord });
  }

  /** Gives out a frame; `lead`: samples that a device has before each row. */
  frame(position: number, pixels: FramePixels, lead: number | undefined): void {
    const { width, height, pixel, planes } = pixels;
    const samples = sampleBytes[pixel];
    const rowBytes = width * samples;
    const stride = pixels.stride && pixels.stride % rowSamples === 0 ? pixels.stride : strideOf(pixels, lead);
    const planeBytes = height * stride;
    const bytes = planes * planeBytes - stride + rowBytes;
    const place = this.#takePlace(bytes);
    const head = {
      position,
      width,
      height,
      sampleBytes: samples,
      planes,
      stride,
      bytes,
      place,
      encoded: pixels.isEncoded ? 1 : 0,
      limited: pixels.isLimited ? 1 : 0,
    };
    if (place !== inline) {
      pixels.write(this.#memory!.subarray(place, place + bytes), stride, planeBytes);
      this.#heads.push(bytesOf(head));
      if (performance.now() - this.#saidMs > togetherMs) this.#sayHeads();
    } else {
      const packed = packedPixels(pixels);
      this.#say({ ...head, stride: rowBytes, bytes: packed.length }, packed);
    }
    this.#framesOut++;
  }

  /**
   * Waits until there is a place for a frame. Frames that go through the pipe need none, but no more of them wait than
   * would fit.
   */
  #takePlace(bytes: number): number {
    for (let isSaid = false; ; isSaid = true) {
      if (this.#framesOut < mostFramesOut) {
        if (this.#memory && bytes <= this.#roomBytes) {
          const place = this.#room.take(bytes);
          if (place !== undefined) return place;
        } else if (this.#inlineOut === 0 || (this.#inlineOut + 1) * bytes <= this.#roomBytes) {
          this.#inlineOut++;
          return inline;
        }
      }
      if (!isSaid) this.#say({ position: fullRecord });
      // The other side is gone.
      if (!this.orders.wait()) process.exit(1);
    }
  }

  #free(places: readonly number[]): void {
    for (const place of places) {
      this.#framesOut--;
      if (place === inline) this.#inlineOut--;
      else this.#room.free(place);
    }
  }

  #say(head: Partial<RecordHead>, bytes?: Uint8Array): void {
    this.#heads.push(bytesOf(head));
    this.#sayHeads();
    if (bytes) write(bytes);
  }

  #sayHeads(): void {
    this.#saidMs = performance.now();
    write(Buffer.concat(this.#heads));
    this.#heads = [];
  }
}

/** Bytes from a row to the next; `lead`: samples that a device has before each row. */
function strideOf({ width, pixel }: FramePixels, lead: number | undefined): number {
  const samples = lead === undefined ? width : Math.ceil((width + lead) / rowSamples) * rowSamples;
  return samples * sampleBytes[pixel];
}

const bytesOf = (head: Partial<RecordHead>): Uint8Array =>
  new Uint8Array(Float64Array.from(headFields, (field) => head[field] ?? 0).buffer);

/** Waits until all is taken. */
function write(bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length; ) done += writeSync(1, bytes, done);
}
