import { boxesOf, type Mp4Box, usualBoxes } from './mp4-boxes.ts';
import { bytesAt, type VideoBytes } from './video-bytes.ts';

/** Zeros that stand for bytes that are left out. */
export const nothing = Buffer.alloc(2 ** 20);

/** The bytes of a file as FFmpeg gets them to list its packets, without the contents of packets. */
export interface ListedBytes extends VideoBytes {
  /** Whether something is wrong with the parts of the file that were read. */
  readonly isInDoubt: boolean;
  /**
   * How many bytes of a packet are searched for the first slice of a picture before the whole packet is. Most packets
   * have it in the first so many.
   */
  readonly pictureHeads: readonly number[];
  /** As in the file; fewer than asked for at its end alone. */
  real(position: number, length: number): Buffer;
  /** Looks at all parts that were not read. */
  lookAtRest(): void;
}

/**
 * The bytes of an MP4 or QuickTime file as FFmpeg gets them to list its packets. The contents of boxes of samples are
 * zeros and are not read. FFmpeg finds the places, sizes and times of packets in the file's own tables, edit lists and
 * fragments, and an hour of 1.8 GB is listed without being read.
 */
export class ListingBytes implements ListedBytes {
  readonly sizeBytes: number;
  /** A single size, because each is a request of its own if the file is on a server. */
  readonly pictureHeads = [4096];
  /** Whether something is wrong with the boxes that were read. */
  isInDoubt = false;
  readonly #bytes: VideoBytes;
  readonly #boxes: Iterator<Mp4Box>;
  /** Boxes of samples that were read, in the order of the file. */
  readonly #samples: Mp4Box[] = [];
  /** The position up to which all boxes were looked at. */
  #known = 0;

  constructor(bytes: VideoBytes) {
    this.sizeBytes = bytes.sizeBytes;
    this.#bytes = bytes;
    this.#boxes = boxesOf(bytes);
  }

  readonly read: VideoBytes['read'] = (position, length) => {
    while (this.#known <= position) this.#lookFurther();
    const next = this.#boxBehind(position);
    const box = this.#samples[next - 1];
    if (box && position < box.end)
      return nothing.subarray(0, Math.max(0, Math.min(length, box.end - position, this.sizeBytes - position)));
    const end = this.#samples[next]?.content ?? this.#known;
    return this.#bytes.read(position, Math.min(length, end - position));
  };

  /** The index of the first box of samples that begins behind a byte. */
  #boxBehind(position: number): number {
    let [low, high] = [0, this.#samples.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#samples[middle]!.content > position) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** As in the file; fewer than asked for at its end alone. */
  real(position: number, length: number): Buffer {
    return bytesAt(this.#bytes.read, position, length, true);
  }

  /** Looks at all boxes that were not read. */
  lookAtRest(): void {
    while (this.#known < this.sizeBytes) this.#lookFurther();
  }

  close(): void {
    this.#bytes.close();
  }

  #lookFurther(): void {
    const { value: box, done } = this.#boxes.next();
    if (done) this.isInDoubt ||= this.#known < this.sizeBytes;
    else this.isInDoubt ||= !usualBoxes.has(box.type) || box.end < box.content || box.end > this.sizeBytes;
    if (done || box.end <= this.#known) {
      this.#known = Number.POSITIVE_INFINITY;
      return;
    }
    if (box.type === 'mdat') this.#samples.push(box);
    this.#known = box.end;
  }
}
