import { createSamples, type MapSamples, type Rect, type Size, sampleBytes, viewSamples } from '@halogrid/geometry';
import type { ItemResult } from '../kernel/plane-item.ts';
import type { Cell, Grid } from '../pipeline/grid.ts';
import type { Pipeline } from '../pipeline/pipeline.ts';

/** Puts the results of an image's tiles together. */
export class Gathered {
  readonly histogram: Uint32Array;
  map: MapSamples | undefined;
  counted = 0;
  readonly #pipeline: Pipeline;
  readonly #image: Size;
  readonly #columns: number;

  constructor(pipeline: Pipeline, image: Size, { rows, columns }: Grid) {
    this.#pipeline = pipeline;
    this.#image = image;
    this.#columns = columns;
    this.histogram = new Uint32Array(rows * columns * pipeline.bins * pipeline.output.channels.length);
  }

  /** Adds the result of a tile that has these cells. The caller must not use the result afterwards. */
  add(tile: Rect, cells: readonly Cell[], { bins, counted, map }: ItemResult): void {
    this.counted += counted;
    const binsACell = this.#pipeline.bins * this.#pipeline.output.channels.length;
    for (const [i, { row, column }] of cells.entries()) {
      const to = (row * this.#columns + column) * binsACell;
      for (let bin = 0; bin < binsACell; bin++) this.histogram[to + bin]! += bins[i * binsACell + bin]!;
    }
    if (map) this.#place(tile, map);
  }

  #place(tile: Rect, { bytes, stride, bandBytes }: NonNullable<ItemResult['map']>): void {
    const { sample, channels } = this.#pipeline.output;
    const { width, height } = this.#image;
    const unit = sampleBytes[sample];
    const length = width * height * channels.length;
    const isWhole = tile.width === width && tile.height === height;
    const hasNoGaps = stride === width * unit && bandBytes === stride * height;
    if (isWhole && hasNoGaps && bytes.byteOffset % unit === 0 && bytes.buffer instanceof ArrayBuffer) {
      this.map = viewSamples(sample, bytes.buffer, bytes.byteOffset, length);
      return;
    }
    this.map ??= createSamples(sample, length);
    const target = new Uint8Array(this.map.buffer);
    for (let band = 0; band < channels.length; band++) {
      for (let row = 0; row < tile.height; row++) {
        const from = band * bandBytes + row * stride;
        const to = ((band * height + tile.y + row) * width + tile.x) * unit;
        target.set(bytes.subarray(from, from + tile.width * unit), to);
      }
    }
  }
}
