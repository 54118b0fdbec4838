import { type Rect, type Size, sampleBytes } from '@halogrid/geometry';
import { mapType } from '@halogrid/jobs/map-type';
import { areAllKnown, firstOf, type PlannedSources, readSources } from '@halogrid/jobs/planned-sources';
import type { ImageSize, KeptWork, ShardWork } from '@halogrid/jobs/shard';
import { type Grid, type Pipeline, pipelineOver, placeSharedItem, planPipelines } from '@halogrid/kernels';
import type { MapType } from '@halogrid/results';
import { piecesOf } from '@halogrid/results/chunk';
import { binsOfSource, type HistogramShape, histogramShape } from '@halogrid/results/histogram-shape';
import { knownPipelines } from '@halogrid/results/known-sums';
import { SourceBlock } from '@halogrid/sources/source-block';
import { type PlanWork, WorkCounter } from './plan-work.ts';

/** Bytes that a node holds for something it computes: the planes it reads, and histograms and dense results. */
export interface NodeBytes {
  stagingBytes: number;
  resultsBytes: number;
}

/** What a plan comes to. Sizes in bytes are of what is asked for and uncompressed, so files are no larger. */
export interface PlanTotals {
  sources: number;
  /** Sources whose results an earlier job in the output folder has. */
  kept: number;
  /** Sources that are set aside already, and those whose size is not known without decoding them. */
  quarantined: number;
  unknown: number;
  /** To be computed. */
  pixels: number;
  shards: number;
  /** Shards that are tiles of images that are cut. */
  tiles: number;
  /** Shards that are segments of videos, and the frames in them. */
  segments: number;
  videoFrames: number;
  /** Pixels that are read around tiles, beyond `pixels`. */
  haloPixels: number;
  /** What the largest tile or frame takes. */
  largest: NodeBytes & Size;
  /** What a device takes at once: the largest tile or frame, or as many frames as a batch takes. */
  batch: NodeBytes;
  /** What all tiles and frames take. */
  all: NodeBytes;
  output: { mapsBytes: number; featuresBytes: number; histogramBytes: number };
  /**
   * Maps in pieces that are not part of the output as they are, and copies of images: there until the output is
   * complete.
   */
  scratchBytes: number;
  /** What its time depends on. */
  work: PlanWork;
}

/** What a node puts together for a device, as planes and as results, beyond the first frame. */
const batchBytes = 64 * 2 ** 20;

/** Side of the parts in which map files are stored. */
const mapPartPx = 512;

/** A row of features.parquet beside its histogram: its numbers and the name of its source. */
const featureBytes = 100;

/** A bin in histogram.json, and histogram.svg. */
const binTextBytes = 12;
const chartBytes = 64 * 2 ** 10;

export interface TotalsOptions {
  grid: Grid;
  /** As the job's. */
  mapFormat: string;
}

/** Adds up what the steps of a plan come to. */
export class PlanCounter {
  readonly totals: PlanTotals;
  readonly #pipelines: readonly Pipeline[];
  readonly #options: TotalsOptions;
  readonly #shapes: readonly HistogramShape[];
  /** Sizes of the sources that a shard may still ask for. */
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
   * `size` is undefined where nobody can tell it; `copyBytes` are of the copy that is made of an image that is not read
   * by region, `fileBytes` of its file, 0 where nobody knows.
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

  /** The source that was added last is not computed, and its map is there. */
  addKept(index: number): void {
    const { totals } = this;
    const size = this.#sizes.get(index)!;
    this.#sizes.delete(index);
    this.#work.addKept(index);
    totals.kept++;
    totals.pixels -= size.width * size.height;
    if (this.#wantsMap) totals.output.mapsBytes -= this.#mapBytes(size);
  }

  /** The source that was added last turned out to be none. */
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
      // Shards of a source follow one another, and the last is at its lower right corner.
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

  /** Whether the counts of each pipeline are known for the sources of a shard: those of one source tell which. */
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
        for (const { kind, rect: part } of piecesOf(rect, size, type, mapFormat === 'zarr')) {
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
    const roundedTo = this.#options.mapFormat === 'zarr' ? 1 : 16;
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
function featuresFileBytes({ grid, channels, bins }: HistogramShape): number {
  return bins && grid.rows * grid.columns * (4 * bins * channels + featureBytes);
}

/** What has to fit into the largest buffer of a device. */
export const mostOf = ({ stagingBytes, resultsBytes }: NodeBytes): number => Math.max(stagingBytes, resultsBytes);

/** What a device needs for a tile, as nodes count it; the dense result apart. */
export function itemBytes(
  pipelines: readonly Pipeline[],
  rect: Rect,
  size: Size,
  grid: Grid,
): NodeBytes & { /** At most: rows are padded. */ mapBytes: number } {
  const plan = planPipelines(pipelines, rect, size, grid);
  const { input, pixel } = pipelines[0]!;
  let [resultsBytes, mapBytes] = [0, 0];
  for (const [i, { bins, output }] of pipelines.entries()) {
    const { parts } = plan.plans[i]!;
    const { sample, channels } = output;
    resultsBytes += 4 * bins * channels.length * parts.length;
    mapBytes += ((rect.width + 15) * sampleBytes[sample] + 15) * rect.height * channels.length;
  }
  return { stagingBytes: placeSharedItem(plan, input.length, 0, sampleBytes[pixel]).end, resultsBytes, mapBytes };
}

/** Pixels of a map and its coarser levels, each of which is stored in whole parts, whose sides are rounded to that. */
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
