import { type Rect, type Size, sampleBytes } from '@halogrid/geometry';
import { mapType } from '@halogrid/jobs/map-type';
import { areAllKnown, firstOf, type PlannedSources, readSources } from '@halogrid/jobs/planned-sources';
import type { ImageSize, KeptWork, ShardWork } from '@halogrid/jobs/shard';
import { type Grid, type Pipeline, pipelineOver, placeSharedItem, planesRead, planPipelines } from '@halogrid/kernels';
import type { MapType } from '@halogrid/results';
import { piecesOf } from '@halogrid/results/chunk';
import { binsOfSource, type HistogramShape, histogramShape } from '@halogrid/results/histogram-shape';
import { knownPipelines } from '@halogrid/results/known-sums';
import { isZarr } from '@halogrid/results/map-format';
import { statisticNames } from '@halogrid/results/matrix-statistics';
import { SourceBlock } from '@halogrid/sources/source-block';
import { type PlanWork, WorkCounter } from './plan-work.ts';

/** Bytes that a node holds for a computation: the planes that it reads; and histograms and dense results. */
export interface NodeBytes {
  stagingBytes: number;
  resultsBytes: number;
}

/** The totals of a plan. Sizes in bytes are for uncompressed results, so files are not larger. */
export interface PlanTotals {
  sources: number;
  /** Sources whose results an earlier job left in the output folder. */
  kept: number;
  /** Sources that are set aside already; and sources whose size is not known without decoding them. */
  quarantined: number;
  unknown: number;
  /** Pixels to compute. */
  pixels: number;
  shards: number;
  /** Shards that are tiles of images. */
  tiles: number;
  /** Shards that are segments of videos; and the frames in them. */
  segments: number;
  videoFrames: number;
  /** Pixels that are read around tiles, besides `pixels`. */
  haloPixels: number;
  /** The largest tile or frame, and its bytes. */
  largest: NodeBytes & Size;
  /** Bytes that a device needs at once: for the largest tile or frame, or for a full batch of frames. */
  batch: NodeBytes;
  /** Bytes of all tiles and frames together. */
  all: NodeBytes;
  output: { mapsBytes: number; featuresBytes: number; histogramBytes: number };
  /** Bytes of temporary files: pieces of maps, and copies of images. They exist until the output is complete. */
  scratchBytes: number;
  /** The amounts that the job's time depends on. */
  work: PlanWork;
}

/** The most bytes of planes, and of results, that a node puts together for a device beyond the first frame. */
const batchBytes = 64 * 2 ** 20;

/** Side of the parts in which map files are stored. */
const mapPartPx = 512;

/** Bytes of a row of features.parquet without its histogram: its numbers and the name of its source. */
const featureBytes = 100;

/** Bytes of a bin in histogram.json; and of histogram.svg. */
const binTextBytes = 12;
const chartBytes = 64 * 2 ** 10;

export interface TotalsOptions {
  grid: Grid;
  /** As in the job's specification. */
  mapFormat: string;
}

/** Adds up the totals of a plan from its steps. */
export class PlanCounter {
  readonly totals: PlanTotals;
  readonly #pipelines: readonly Pipeline[];
  readonly #options: TotalsOptions;
  readonly #shapes: readonly HistogramShape[];
  /** Sizes, by index, of the sources that later shards may have. */
  readonly #sizes = new Map<number, ImageSize>();
  readonly #work: WorkCounter;
  #lastItem: { key: string; item: NodeBytes & { mapBytes: number } } | undefined;
  #lastMap: { key: string; bytes: number } | undefined;

  constructor(pipelines: readonly Pipeline[], options: TotalsOptions) {
    this.#pipelines = pipelines;
    this.#options = options;
    this.#shapes = pipelines.map((pipeline) => histogramShape(pipeline, options.grid));
    this.#work = new WorkCounter(sum(this.#shapes, binsOfSource));
    this.totals = {
      sources: 0,
      kept: 0,
      quarantined: 0,
      unknown: 0,
      pixels: 0,
      shards: 0,
      tiles: 0,
      segments: 0,
      videoFrames: 0,
      haloPixels: 0,
      largest: { width: 0, height: 0, stagingBytes: 0, resultsBytes: 0 },
      batch: { stagingBytes: 0, resultsBytes: 0 },
      all: { stagingBytes: 0, resultsBytes: 0 },
      output: { mapsBytes: 0, featuresBytes: 0, histogramBytes: sum(this.#shapes, histogramFileBytes) },
      scratchBytes: 0,
      work: this.#work.work,
    };
  }

  /**
   * `size` is undefined if unknown. `copyBytes`: the copy of an image that cannot be read by region. `fileBytes`: its
   * file; 0 if unknown.
   */
  addSource(index: number, uri: string, size: ImageSize | undefined, { copyBytes = 0, fileBytes = 0 } = {}): void {
    const { totals } = this;
    totals.sources++;
    if (!size) {
      totals.unknown++;
      return;
    }
    this.#sizes.set(index, size);
    this.#work.addSource(index, uri, size, fileBytes);
    totals.pixels += size.width * size.height;
    totals.output.featuresBytes += sum(this.#shapes, featuresFileBytes);
    totals.scratchBytes += copyBytes;
    if (this.#wantsMap) totals.output.mapsBytes += this.#mapBytes(size);
  }

  get #wantsMap(): boolean {
    return this.#options.mapFormat !== 'none';
  }

  /** The source that was added last is not computed: its results, map included, are kept. */
  addKept(index: number): void {
    const { totals } = this;
    const size = this.#sizes.get(index)!;
    this.#sizes.delete(index);
    this.#work.addKept(index);
    totals.kept++;
    totals.pixels -= size.width * size.height;
    if (this.#wantsMap) totals.output.mapsBytes -= this.#mapBytes(size);
  }

  /** The source that was added last is set aside. */
  addQuarantine(): void {
    this.totals.quarantined++;
    this.totals.unknown--;
  }

  addShard(work: Exclude<ShardWork, KeptWork>): void {
    const { totals } = this;
    totals.shards++;
    if (work.kind === 'tile') {
      totals.tiles++;
      const { sources, size, rect } = work;
      const index = firstOf(sources);
      const { stored } = planPipelines(this.#pipelines, rect, size);
      this.#work.addTile(work, stored);
      totals.haloPixels += stored.width * stored.height - rect.width * rect.height;
      const pixel = this.#sizes.get(index)?.pixel;
      const item = this.#addItem(this.#pipelines, sources.hasPreviews, rect, { ...size, pixel });
      this.#addBatch(item, item);
      // The tiles of a source are consecutive, and the last one is at its lower right corner.
      if (rect.x + rect.width === size.width && rect.y + rect.height === size.height) this.#sizes.delete(index);
      return;
    }
    if (work.segment) {
      totals.segments++;
      totals.videoFrames += work.sources.count;
    }
    const areKnown = this.#areKnown(work.sources);
    this.#work.addFrames(work, areKnown);
    const pipelines = this.#pipelines.filter((_, i) => !areKnown[i]);
    const all = { stagingBytes: 0, resultsBytes: 0 };
    for (const { index, preview = false } of readSources(work.sources)) {
      const size = this.#sizes.get(index);
      if (!size) continue;
      this.#sizes.delete(index);
      const item = this.#addItem(pipelines, preview, { x: 0, y: 0, ...size }, size);
      all.stagingBytes += item.stagingBytes;
      all.resultsBytes += item.resultsBytes;
      this.#addBatch(item, item);
    }
    this.#addBatch(all, { stagingBytes: batchBytes, resultsBytes: batchBytes });
  }

  #addBatch(bytes: NodeBytes, most: NodeBytes): void {
    const { batch } = this.totals;
    batch.stagingBytes = Math.max(batch.stagingBytes, Math.min(bytes.stagingBytes, most.stagingBytes));
    batch.resultsBytes = Math.max(batch.resultsBytes, Math.min(bytes.resultsBytes, most.resultsBytes));
  }

  /**
   * By pipeline, whether its counts are known for the sources of a shard; empty: for none. All sources of a shard are
   * alike, so the first one shows it.
   */
  #areKnown(sources: PlannedSources): readonly boolean[] {
    if (!areAllKnown(sources)) return [];
    const known = new SourceBlock(sources.block).known(0)!;
    return knownPipelines(known, this.#shapes);
  }

  /** A preview needs the dense result of its source. */
  #addItem(pipelines: readonly Pipeline[], preview: boolean, rect: Rect, size: ImageSize): NodeBytes {
    const { grid, mapFormat } = this.#options;
    const wantsMap = this.#wantsMap;
    const key = `${rect.x} ${rect.y} ${rect.width} ${rect.height} ${size.width} ${size.height} ${size.pixel} ${pipelines.length}`;
    if (this.#lastItem?.key !== key)
      this.#lastItem = {
        key,
        item: itemBytes(
          pipelines.map((pipeline) => pipelineOver(size.pixel ?? 'u8', pipeline)),
          rect,
          size,
          grid,
        ),
      };
    const { stagingBytes, resultsBytes, mapBytes } = this.#lastItem.item;
    const item = { stagingBytes, resultsBytes: resultsBytes + (wantsMap || preview ? mapBytes : 0) };
    const { largest, all } = this.totals;
    if (wantsMap) {
      for (const type of this.#mapTypes) {
        for (const { kind, rect: part } of piecesOf(rect, size, type, isZarr(mapFormat))) {
          if (kind === 'map') this.totals.scratchBytes += part.width * part.height * mapPixelBytes(type);
        }
      }
    }
    all.stagingBytes += item.stagingBytes;
    all.resultsBytes += item.resultsBytes;
    if (mostOf(item) > mostOf(largest)) Object.assign(largest, { width: rect.width, height: rect.height, ...item });
    return item;
  }

  #mapBytes(size: Size): number {
    const key = `${size.width} ${size.height}`;
    const roundedTo = isZarr(this.#options.mapFormat) ? 1 : 16;
    if (this.#lastMap?.key !== key)
      this.#lastMap = { key, bytes: mapPixels(size, roundedTo) * sum(this.#mapTypes, mapPixelBytes) };
    return this.#lastMap.bytes;
  }

  get #mapTypes(): MapType[] {
    return this.#pipelines.map(({ output }) => mapType(output));
  }
}

function sum<Item>(items: readonly Item[], of: (item: Item) => number): number {
  return items.reduce((total, item) => total + of(item), 0);
}

/** Bytes of a pixel of a map. */
const mapPixelBytes = ({ sample, bands }: MapType): number => sampleBytes[sample] * bands;

/** Bytes of histogram.json and its chart. */
function histogramFileBytes({ channels, bins }: HistogramShape): number {
  return bins && bins * channels * binTextBytes + chartBytes;
}

/** Bytes of a source in features.parquet. */
function featuresFileBytes({ grid, channels, bins, matrices }: HistogramShape): number {
  const statistics = matrices ? 8 * statisticNames.length * channels : 0;
  return bins && grid.rows * grid.columns * (4 * bins * channels + statistics + featureBytes);
}

/** The bytes that must fit into the largest buffer of a device. */
export const mostOf = ({ stagingBytes, resultsBytes }: NodeBytes): number => Math.max(stagingBytes, resultsBytes);

/** The bytes that a device needs for a tile, as nodes count them; the dense result separately. */
export function itemBytes(
  pipelines: readonly Pipeline[],
  rect: Rect,
  size: Size,
  grid: Grid,
): NodeBytes & { /** At most: rows are padded. */ mapBytes: number } {
  const plan = planPipelines(pipelines, rect, size, grid);
  const [first] = pipelines as [Pipeline, ...Pipeline[]];
  let [resultsBytes, mapBytes] = [0, 0];
  for (const [i, { bins, output }] of pipelines.entries()) {
    const { parts } = plan.plans[i]!;
    const { sample, channels } = output;
    resultsBytes += 4 * bins * channels.length * parts.length;
    mapBytes += ((rect.width + 15) * sampleBytes[sample] + 15) * rect.height * channels.length;
  }
  return {
    stagingBytes: placeSharedItem(plan, planesRead(first), 0, sampleBytes[first.pixel]).end,
    resultsBytes,
    mapBytes,
  };
}

/**
 * Pixels of a map and its coarser levels. Each level is stored in whole parts, whose sides are multiples of
 * `roundedTo`.
 */
function mapPixels(size: Size, roundedTo: number): number {
  let pixels = 0;
  for (let { width, height } = size; ; width = Math.ceil(width / 2), height = Math.ceil(height / 2)) {
    pixels += inParts(width, roundedTo) * inParts(height, roundedTo);
    if (width <= mapPartPx && height <= mapPartPx) return pixels;
  }
}

function inParts(px: number, roundedTo: number): number {
  const side = Math.min(mapPartPx, Math.ceil(px / roundedTo) * roundedTo);
  return Math.ceil(px / side) * side;
}
