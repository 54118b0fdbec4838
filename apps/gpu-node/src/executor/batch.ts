import { type PixelType, type Sampling, sampleBytes } from '@halogrid/geometry';
import {
  type Pipeline,
  type PipelinePlan,
  pipelineOver,
  placeSharedItem,
  planesRead,
  type SharedItem,
  type SharedPlan,
} from '@halogrid/kernels';
import type { NodeDevice } from '../devices/device.ts';

type BatchLimits = Pick<NodeDevice, 'maxStagingBytes' | 'batchBytes'>;

/** The most bytes of a batch's results, so that cells, wide codes and floats take no more memory than the planes. */
export const resultsLimitBytes = 64 * 2 ** 20;

/** What a tile needs besides its pixels. */
export interface TileNeeds {
  /** By pipeline, the pixels of the dense result, if one is made. */
  samplings?: readonly (Sampling | undefined)[];
  /** As placeSharedItem takes it. */
  stride?: number | undefined;
  /** Whether pixels may be excluded: the device then makes dense results, if only to count them. */
  mayExclude?: boolean;
}

/** Tiles that a device computes at once, one after another in its staging memory. */
export class Batch {
  readonly items: SharedItem[] = [];
  /** The type of pixels of its images. */
  readonly pixel: PixelType;
  /** What is computed for each tile, over that type. */
  readonly pipelines: readonly Pipeline[];
  /** Its planes are luma of the limited range, which the device converts to gray. */
  readonly isLimited: boolean;
  readonly #device: BatchLimits;
  readonly #share: number;
  #stagingBytes = 0;
  #resultsBytes = 0;
  #withMap = false;

  /** `share` of the usual limits, in (0, 1], is used. The pipelines take the same channels. */
  constructor(pixel: PixelType, pipelines: readonly Pipeline[], device: BatchLimits, share = 1, isLimited = false) {
    this.pixel = pixel;
    this.isLimited = isLimited;
    this.pipelines = pipelines.map((pipeline) => pipelineOver(pixel, pipeline));
    this.#share = share;
    this.#device = device;
  }

  get stagingBytes(): number {
    return this.#stagingBytes;
  }

  /** Whether the dense results of all tiles are computed. */
  get withMap(): boolean {
    return this.#withMap;
  }

  /**
   * Places a tile. Undefined if there is no room for it and its results, or if only it, or only the others, need
   * a dense result. The first tile of a batch may use the device's limits, for each pipeline; the others share what is
   * left of the batch's limits.
   */
  add(
    plan: SharedPlan,
    needsMap: boolean,
    { samplings = [], stride, mayExclude = false }: TileNeeds = {},
  ): SharedItem | undefined {
    const planes = planesRead(this.pipelines[0]!);
    const { item, end } = placeSharedItem(plan, planes, this.#stagingBytes, sampleBytes[this.pixel], stride);
    const makesMap = needsMap || mayExclude;
    const own = this.pipelines.map((pipeline, i) => resultsBytesOf(plan.plans[i]!, pipeline, makesMap));
    const resultsBytes = own.reduce((sum, bytes) => sum + bytes, this.#resultsBytes);

    const { maxStagingBytes, batchBytes } = this.#device;
    if (this.items.length === 0) {
      if (Math.max(end, ...own) > maxStagingBytes) return undefined;
    } else {
      if (needsMap !== this.#withMap) return undefined;
      const limit = (bytes: number) => Math.min(bytes * this.#share, maxStagingBytes);
      if (end > limit(batchBytes) || resultsBytes > limit(resultsLimitBytes)) return undefined;
    }

    for (const [i, sampling] of samplings.entries()) if (sampling) item.items[i]!.sampling = sampling;
    this.items.push(item);
    this.#stagingBytes = end;
    this.#resultsBytes = resultsBytes;
    this.#withMap = needsMap;
    return item;
  }
}

/** Bytes of the results of one pipeline for a tile, in a run of its own. */
function resultsBytesOf(plan: PipelinePlan, pipeline: Pipeline, needsMap: boolean): number {
  return histogramsBytesOf(plan, pipeline) + (needsMap ? mapBytesOf(plan, pipeline) : 0);
}

function histogramsBytesOf({ parts }: PipelinePlan, { output, bins }: Pipeline): number {
  return 4 * bins * output.channels.length * parts.length;
}

function mapBytesOf({ stages }: PipelinePlan, pipeline: Pipeline): number {
  const { width, height } = stages.at(-1)!.out;
  const { ofRow, ofPixel } = mapSpaceOf(pipeline);
  return height * (ofRow + width * ofPixel);
}

/**
 * The most bytes of a map, for each row and each pixel: a GPU's rows begin up to 15 samples into a unit of 16 bytes,
 * and end at such a unit.
 */
function mapSpaceOf({ output }: Pipeline): { ofRow: number; ofPixel: number } {
  const unit = sampleBytes[output.sample];
  const bands = output.channels.length;
  return { ofRow: 15 * (unit + 1) * bands, ofPixel: unit * bands };
}

/**
 * Bytes of the results of a whole image, for all pipelines together, as `Batch` counts them. `cells`: the number of
 * cells of the grid.
 */
export function resultSpaceOf(
  pipelines: readonly Pipeline[],
  cells: number,
  withMap: boolean,
): { ofImage: number; ofRow: number; ofPixel: number } {
  const space = { ofImage: 0, ofRow: 0, ofPixel: 0 };
  for (const pipeline of pipelines) {
    space.ofImage += 4 * pipeline.bins * pipeline.output.channels.length * cells;
    if (!withMap) continue;
    const { ofRow, ofPixel } = mapSpaceOf(pipeline);
    space.ofRow += ofRow;
    space.ofPixel += ofPixel;
  }
  return space;
}
