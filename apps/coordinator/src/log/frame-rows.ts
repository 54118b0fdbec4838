import { noZone } from '@halogrid/proto/frame-table';
import type { SourceDigest } from '@halogrid/results/source-digest';
import type { CaptureTime } from '@halogrid/sources/captured';
import type { HistogramPlace, SettledSource } from './settled-source.ts';

const digestBytes = 32;

/**
 * What is kept of each frame of a shard by one pipeline, beside its histograms: columns of numbers in the byte order of every machine
 * that Node runs on. 56 bytes a frame, and 10 more where times of capture are stated.
 */
export class FrameRows {
  readonly frames: number;
  /** All of it. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly counted: Float64Array;
  /** NaN where none is known; absent where none is of any frame. */
  readonly localMs: Float64Array | undefined;
  readonly widths: Uint32Array;
  readonly heights: Uint32Array;
  /** How many bytes the histograms of a frame take, which lie end to end, and their CRC-32. */
  readonly lengths: Uint32Array;
  readonly checksums: Uint32Array;
  /** End to end: see sourceDigest. */
  readonly digests: Uint8Array;
  readonly offsetMinutes: Int16Array | undefined;
  #offsets: Float64Array | undefined;

  /** Rows in `bytes`, which are `frameRowsBytes` long and begin where their memory does; zeros unless given. */
  constructor(frames: number, isTimed: boolean, bytes = new Uint8Array(frameRowsBytes(frames, isTimed))) {
    const { buffer } = bytes;
    let at = 0;
    const next = (bytesAFrame: number): number => {
      const from = at;
      at += bytesAFrame * frames;
      return from;
    };
    this.frames = frames;
    this.bytes = bytes;
    this.counted = new Float64Array(buffer, next(8), frames);
    this.localMs = isTimed ? new Float64Array(buffer, next(8), frames) : undefined;
    this.widths = new Uint32Array(buffer, next(4), frames);
    this.heights = new Uint32Array(buffer, next(4), frames);
    this.lengths = new Uint32Array(buffer, next(4), frames);
    this.checksums = new Uint32Array(buffer, next(4), frames);
    this.digests = new Uint8Array(buffer, next(digestBytes), digestBytes * frames);
    this.offsetMinutes = isTimed ? new Int16Array(buffer, next(2), frames) : undefined;
  }

  settled(row: number): SettledSource {
    const size = { width: this.widths[row]!, height: this.heights[row]! };
    return { state: 'done', size, counted: this.counted[row]!, digest: this.digest(row) };
  }

  digest(row: number): SourceDigest {
    return this.digests.subarray(digestBytes * row, digestBytes * (row + 1));
  }

  /** Where its histograms are in a file that has those of the first frame at `first`. */
  place(row: number, first: number): HistogramPlace {
    this.#offsets ??= this.#addLengths();
    return { offset: first + this.#offsets[row]!, length: this.lengths[row]!, checksum: this.checksums[row]! };
  }

  captured(row: number): CaptureTime | undefined {
    const localMs = this.localMs?.[row] ?? Number.NaN;
    if (Number.isNaN(localMs)) return undefined;
    const offsetMinutes = this.offsetMinutes![row]!;
    return offsetMinutes === noZone ? { localMs } : { localMs, offsetMinutes };
  }

  #addLengths(): Float64Array {
    const offsets = new Float64Array(this.frames);
    for (let row = 1; row < this.frames; row++) offsets[row] = offsets[row - 1]! + this.lengths[row - 1]!;
    return offsets;
  }
}

/** Bytes of the rows of so many frames. */
const frameRowsBytes = (frames: number, isTimed: boolean): number =>
  frames * (8 + 4 * 4 + digestBytes + (isTimed ? 10 : 0));
