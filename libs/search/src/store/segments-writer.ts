import { type Segment, segmentName } from './manifest.ts';
import { type IndexFrame, type JobName, SegmentWriter } from './segment-writer.ts';

/** The most frames of a segment: while it is written, its rows take some 100 bytes each. */
export const segmentFrames = 2 ** 20;
/** The most cells of all its frames: meanwhile, each takes 16 bytes. */
const segmentCells = 2 ** 24;

/** The number of frames, of that many cells each, in a full segment. */
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

  /** Wait until a frame is added before adding the next. */
  async add(job: JobName, frame: IndexFrame): Promise<void> {
    this.#writer ??= await SegmentWriter.create(this.#folder, segmentName(this.#next++), this.#shape);
    await this.#writer.add(job, frame);
    if (this.#writer.frames === this.#mostFrames) await this.#end();
  }

  /** Ends writing. Resolves with the segments, which are durable, and the number of the next one. */
  async finish(): Promise<{ segments: Segment[]; next: number }> {
    await this.#end();
    return { segments: this.#segments, next: this.#next };
  }

  /** Closes the open file. `removeUnnamed` removes what was written, as after a crash. */
  async abort(): Promise<void> {
    await this.#writer?.abort();
  }

  async #end(): Promise<void> {
    if (this.#writer) this.#segments.push(await this.#writer.finish());
    this.#writer = undefined;
  }
}
