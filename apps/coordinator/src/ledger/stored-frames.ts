import { crc32 } from 'node:zlib';
import { SourceRuns } from '../job/source-runs.ts';
import { FrameRows, frameRowsBytes } from '../log/frame-rows.ts';
import type { HistogramPlace, StoredPlace } from '../log/settled-source.ts';
import { describeChange } from './histogram-file.ts';

/** Blocks whose rows are held: those who read frames read them in order. */
const heldBlocks = 4;

/** What reads the bytes that a HistogramSpool was given. */
export interface SpoolReader {
  readonly path: string;
  read(offset: number, length: number): Uint8Array<ArrayBuffer>;
}

/** Frames of a shard that are done, which lie in a file: in memory is where. */
export class StoredFrames {
  readonly place: StoredPlace;
  readonly sources: SourceRuns;
  readonly #held: HeldRows;

  /** Throws RangeError where they cannot be so many frames. */
  constructor(place: StoredPlace, held: HeldRows) {
    this.place = place;
    this.sources = new SourceRuns(place.runs);
    this.#held = held;
    if (place.rowsBytes === frameRowsBytes(this.sources.length, place.isTimed)) return;
    throw new RangeError(`There are ${place.rowsBytes} bytes of ${this.sources.length} frames`);
  }

  /** Byte behind all of it. */
  get end(): number {
    const { offset, countsBytes, rowsBytes } = this.place;
    return offset + countsBytes + rowsBytes;
  }

  get rows(): FrameRows {
    return this.#held.of(this);
  }

  histograms(row: number): HistogramPlace {
    return this.rows.place(row, this.place.offset);
  }
}

/** The rows of the frames that were asked for last, of one spool. */
export class HeldRows {
  readonly #spool: SpoolReader;
  readonly #rows = new Map<StoredFrames, FrameRows>();

  constructor(spool: SpoolReader) {
    this.#spool = spool;
  }

  /** Throws one sentence where they are not as they were written. */
  of(frames: StoredFrames): FrameRows {
    const held = this.#rows.get(frames) ?? this.#read(frames);
    this.#rows.delete(frames);
    this.#rows.set(frames, held);
    const [oldest] = this.#rows.keys();
    if (this.#rows.size > heldBlocks) this.#rows.delete(oldest!);
    return held;
  }

  #read({ place, sources }: StoredFrames): FrameRows {
    const { offset, countsBytes, rowsBytes, rowsChecksum, isTimed } = place;
    const bytes = this.#spool.read(offset + countsBytes, rowsBytes);
    if (crc32(bytes) !== rowsChecksum) throw new Error(describeChange(this.#spool.path, offset + countsBytes));
    return new FrameRows(sources.length, isTimed, bytes);
  }
}
