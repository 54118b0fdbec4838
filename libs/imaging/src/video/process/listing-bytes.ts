import { boxesOf, type Mp4Box, usualBoxes } from './mp4-boxes.ts';
import { bytesAt, type VideoBytes } from './video-bytes.ts';

/** Given for what is left out, again and again. */
export const nothing = Buffer.alloc(2 ** 20);

/** The bytes of a file for whoever lists its packets, without those that packets hold. */
export interface ListedBytes extends VideoBytes {
  /** Whether something is wrong with the parts of the file that were met. */
  readonly isInDoubt: boolean;
  /**
   * Bytes of a packet that are looked at for the first slice of a picture, before all of it is; most have it in the
   * first so many.
   */
  readonly pictureHeads: readonly number[];
  /** As in the file; fewer than asked for at its end alone. */
  real(position: number, length: number): Buffer;
  /** Looks at all parts that were not met. */
  lookAtRest(): void;
}

/**
 * The bytes of an MP4 or QuickTime file for whoever lists its packets: those in boxes of samples are zeros, which
 * nobody reads. So FFmpeg finds the places, sizes and times of packets by the file's own tables, with all that it makes
 * of edit lists and fragments, and an hour of 1.8 GB is listed without being read.
 */
export class ListingBytes implements ListedBytes {
  readonly sizeBytes: number;
  /** Each is fetched for itself of what is on a server. */
  readonly pictureHeads = [4096];
  /** Whether something is wrong with the boxes that were met. */
  isInDoubt = false;
  readonly #bytes: VideoBytes;
  readonly #boxes: Iterator<Mp4Box>;
  /** Boxes of samples that were met, in the order of the file. */
  readonly #samples: Mp4Box[] = [];
  /** What begins here has not been looked at. */
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

  /** The number of the first box of samples that begins behind a byte. */
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

  /** Looks at all boxes that were not met. */
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
