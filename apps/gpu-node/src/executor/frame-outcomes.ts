import type { ItemResult } from '@halogrid/kernels';
import type { SourceError } from '@halogrid/proto';
import { type FoundShard, noZone } from '@halogrid/results/found-shard';
import { allCells, binsOfSource, type HistogramShape, histogramShape } from '@halogrid/results/histogram-shape';
import type { CaptureTime } from '@halogrid/sources/capture-time';
import type { ReadTile } from './read-tile.ts';
import type { ShardJob } from './shard-job.ts';

/**
 * The outcomes of the frames of a shard, by position in the lease. Counts are copied once, from a device's memory to
 * one array a pipeline, which is handed on. There are no objects a frame.
 */
export class FrameOutcomes {
  readonly #isFound: Uint8Array;
  readonly #widths: Uint32Array;
  readonly #heights: Uint32Array;
  readonly #parts: { shape: HistogramShape; counted: Float64Array; bins: Uint32Array }[];
  /** Set once a file states a time. */
  #captured: FoundShard['captured'];
  readonly #errors = new Map<number, SourceError>();
  readonly #mended = new Map<number, string>();

  /** For a shard of `length` frames. */
  constructor({ pipelines, grid }: Pick<ShardJob, 'pipelines' | 'grid'>, length: number) {
    this.#isFound = new Uint8Array(length);
    this.#widths = new Uint32Array(length);
    this.#heights = new Uint32Array(length);
    this.#parts = pipelines.map(({ pipeline }) => {
      const shape = histogramShape(pipeline, grid);
      return { shape, counted: new Float64Array(length), bins: new Uint32Array(length * binsOfSource(shape)) };
    });
  }

  /** Whether the frame has an outcome. */
  has(position: number): boolean {
    return this.#isFound[position] === 1 || this.#errors.has(position);
  }

  /** `items`: the frame's result by each pipeline. They do not count if the frame fails, before or after this call. */
  put(position: number, { size, captured, mended }: ReadTile, items: readonly ItemResult[]): void {
    if (this.#errors.has(position)) return;
    this.#isFound[position] = 1;
    this.#widths[position] = size.width;
    this.#heights[position] = size.height;
    for (let i = 0; i < items.length; i++) {
      const { shape, counted, bins } = this.#parts[i]!;
      counted[position] = items[i]!.counted;
      bins.set(allCells(shape, size, items[i]!.bins), position * binsOfSource(shape));
    }
    if (captured) this.#putTime(position, captured);
    if (mended !== undefined) this.#mended.set(position, mended);
  }

  /** The frame could not be processed; its results do not count. */
  fail(position: number, error: SourceError): void {
    this.#isFound[position] = 0;
    this.#errors.set(position, error);
  }

  /** Why frames could not be processed, in the order of frames. */
  get errors(): SourceError[] {
    return this.#ordered(this.#errors);
  }

  /** Sentences about bytes that were removed from files of found frames, by the positions of these frames, in order. */
  get mended(): [position: number, sentence: string][] {
    return [...this.#mended].filter(([position]) => this.#isFound[position] === 1).sort(([a], [b]) => a - b);
  }

  /** The results of the sources of the lease's block `block`. Nothing may be added afterwards. */
  end(block: Uint8Array): FoundShard {
    const found = Uint32Array.from(this.#isFound.keys().filter((position) => this.#isFound[position] === 1));
    const captured = this.#captured && {
      localMs: compact(this.#captured.localMs, found),
      offsetMinutes: compact(this.#captured.offsetMinutes, found),
    };
    return {
      block,
      found,
      widths: compact(this.#widths, found),
      heights: compact(this.#heights, found),
      captured,
      parts: this.#parts.map(({ shape, counted, bins }) => {
        return { counted: compact(counted, found), bins: compact(bins, found, binsOfSource(shape)) };
      }),
    };
  }

  #putTime(position: number, { localMs, offsetMinutes = noZone }: CaptureTime): void {
    const { length } = this.#isFound;
    this.#captured ??= {
      localMs: new Float64Array(length).fill(Number.NaN),
      offsetMinutes: new Int16Array(length).fill(noZone),
    };
    this.#captured.localMs[position] = localMs;
    this.#captured.offsetMinutes[position] = offsetMinutes;
  }

  #ordered<Value>(byPosition: ReadonlyMap<number, Value>): Value[] {
    return [...byPosition].sort(([a], [b]) => a - b).map(([, value]) => value);
  }
}

type Numbers = Uint32Array | Float64Array | Int16Array;

/** Moves the values at `places`, which ascend, to the front; each place has `each` values. */
function compact<Column extends Numbers>(column: Column, places: Uint32Array, each = 1): Column {
  if (places.length * each === column.length) return column;
  for (let i = 0; i < places.length; i++) {
    const from = places[i]! * each;
    column.copyWithin(i * each, from, from + each);
  }
  return column.subarray(0, places.length * each) as Column;
}
