import { type Segment, segmentName } from './manifest.ts';
import { type IndexFrame, type JobName, SegmentWriter } from './segment-writer.ts';

/** Frames of a segment at most: the rows of one take some 100 bytes each while it is written. */
export const segmentFrames = 2 ** 20;
/** Cells of all its frames at most: each takes 16 bytes meanwhile. */
const segmentCells = 2 ** 24;

/** Frames of that many cells each that a segment has when it is full. */
export const framesOfFull = (cells: number): number =>
  Math.max(1, Math.min(segmentFrames, Math.floor(segmentCells / cells)));

/** Writes as many segments as frames need, one after another. */
export class SegmentsWriter {
  readonly #folder: string;
  readonly #shape: { cells: number; cellBins: number };
  readonly #segments: Segment[] = [];
  readonly #mostFrames: number;
  #next: number;
  #writer: SegmentWriter | undefined;

  /** `next` is the number of the first segment. */
  constructor(folder: string, shape: { cells: number; cellBins: number }, next: number) {
    this.#folder = folder;
    this.#shape = shape;
    this.#mostFrames = framesOfFull(shape.cells);
    this.#next = next;
  }

  /** Wait for one before adding the next. */
  async add(job: JobName, frame: IndexFrame): Promise<void> {
    this.#writer ??= await SegmentWriter.create(this.#folder, segmentName(this.#next++), this.#shape);
    await this.#writer.add(job, frame);
    if (this.#writer.frames === this.#mostFrames) await this.#end();
  }

  /** The segments, durable, and the number of the one that would follow. */
  async finish(): Promise<{ segments: Segment[]; next: number }> {
    await this.#end();
    return { segments: this.#segments, next: this.#next };
  }

  /** Closes the file that is open. What was written is removed by `removeUnnamed`, as after a crash. */
  async abort(): Promise<void> {
    await this.#writer?.abort();
  }

  async #end(): Promise<void> {
    if (this.#writer) this.#segments.push(await this.#writer.finish());
    this.#writer = undefined;
  }
}
