import type { ItemResult } from '@halogrid/kernels';
import type { SourceError } from '@halogrid/proto';
import { type FoundShard, noZone } from '@halogrid/results/found-shard';
import { allCells, binsOfSource, type HistogramShape, histogramShape } from '@halogrid/results/histogram-shape';
import type { CaptureTime } from '@halogrid/sources/capture-time';
import type { ReadTile } from './read-tile.ts';
import type { ShardJob } from './shard-job.ts';

/**
 * What becomes of the frames of a shard, by their positions in the lease. Counts are copied once from where a device
 * leaves them, to the memory that is handed on: one array a pipeline, and no object a frame.
 */
export class FrameOutcomes {
  readonly #isFound: Uint8Array;
  readonly #widths: Uint32Array;
  readonly #heights: Uint32Array;
  readonly #parts: { shape: HistogramShape; counted: Float64Array; bins: Uint32Array }[];
  /** Once a file states a time. */
  #captured: FoundShard['captured'];
  readonly #errors = new Map<number, SourceError>();
  readonly #mended = new Map<number, string>();

  /** Of a shard of `length` frames. */
  constructor({ pipelines, grid }: Pick<ShardJob, 'pipelines' | 'grid'>, length: number) {
    this.#isFound = new Uint8Array(length);
    this.#widths = new Uint32Array(length);
    this.#heights = new Uint32Array(length);
    this.#parts = pipelines.map(({ pipeline }) => {
      const shape = histogramShape(pipeline, grid);
      return { shape, counted: new Float64Array(length), bins: new Uint32Array(length * binsOfSource(shape)) };
    });
  }

  /** Whether it is known what became of the frame. */
  has(position: number): boolean {
    return this.#isFound[position] === 1 || this.#errors.has(position);
  }

  /** `items`: what each pipeline found of the frame. They do not count where the frame failed, before or after. */
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

  /** The frame could not be processed, whatever was found of it. */
  fail(position: number, error: SourceError): void {
    this.#isFound[position] = 0;
    this.#errors.set(position, error);
  }

  /** Why frames could not be processed, in their order. */
  get errors(): SourceError[] {
    return this.#ordered(this.#errors);
  }

  /** Sentences on what was removed from files of frames that were found, by the positions of these, in order. */
  get mended(): [position: number, sentence: string][] {
    return [...this.#mended].filter(([position]) => this.#isFound[position] === 1).sort(([a], [b]) => a - b);
  }

  /** What was found of the sources of that block, which are those of the lease. Nothing may be put from then on. */
  end(block: Uint8Array): FoundShard {
    const found = Uint32Array.from(this.#isFound.keys().filter((position) => this.#isFound[position] === 1));
    const captured = this.#captured && {
      localMs: compact(this.#captured.localMs, found),
      offsetMinutes: compact(this.#captured.offsetMinutes, found),
    };
    return {
      ...{ block, found, widths: compact(this.#widths, found), heights: compact(this.#heights, found) },
      ...(captured && { captured }),
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

/** Moves the values at `places`, which are in order, to the front; each place has `each` of them. */
function compact<Column extends Numbers>(column: Column, places: Uint32Array, each = 1): Column {
  if (places.length * each === column.length) return column;
  for (let i = 0; i < places.length; i++) {
    const from = places[i]! * each;
    column.copyWithin(i * each, from, from + each);
  }
  return column.subarray(0, places.length * each) as Column;
}
