import { type Sampling, sampleBytes } from '@halogrid/geometry';
import { type Pipeline, type PipelineItem, type PipelinePlan, placeItem } from '@halogrid/kernels';
import type { Device } from '../devices/device.ts';

type BatchLimits = Pick<Device, 'maxStagingBytes' | 'batchBytes'>;

/** The limit of a batch's results, so that cells, wide codes and floats take no more memory than the planes do. */
const resultsLimitBytes = 64 * 2 ** 20;

/** Planned tiles that a device takes at once, placed one after another in its staging memory. */
export class Batch {
  readonly items: PipelineItem[] = [];
  /** Over the type of pixels of its images. */
  readonly pipeline: Pipeline;
  readonly #device: BatchLimits;
  readonly #share: number;
  #stagingBytes = 0;
  #histogramsBytes = 0;
  #mapsBytes = 0;
  #withMap = false;

  /** `share` of the usual limits, in (0, 1], is used. */
  constructor(pipeline: Pipeline, device: BatchLimits, share = 1) {
    this.pipeline = pipeline;
    this.#share = share;
    this.#device = device;
  }

  get stagingBytes(): number {
    return this.#stagingBytes;
  }

  /** Whether the dense results are computed, of all. */
  get withMap(): boolean {
    return this.#withMap;
  }

  /**
   * Places a tile; undefined where there is no room for it and its results, and where it needs a dense result and the others do
   * not, or the other way round. The first tile of a batch has all that the
   * device takes, the others what is left of the batch's limits. `sampling`: the pixels of which a dense result is made, if it is.
   */
  add(plan: PipelinePlan, needsMap: boolean, sampling?: Sampling): PipelineItem | undefined {
    const { input, pixel } = this.pipeline;
    const { item, end } = placeItem(plan, input.length, this.#stagingBytes, sampleBytes[pixel]);
    const histogramsBytes = this.#histogramsBytes + histogramsBytesOf(plan, this.pipeline);
    const mapsBytes = this.#mapsBytes + mapBytesOf(plan, this.pipeline);
    const resultsBytes = histogramsBytes + (needsMap ? mapsBytes : 0);

    const isFirst = this.items.length === 0;
    if (!isFirst && needsMap !== this.#withMap) return undefined;
    const { maxStagingBytes, batchBytes } = this.#device;
    const limit = (bytes: number) => (isFirst ? maxStagingBytes : Math.min(bytes * this.#share, maxStagingBytes));
    if (end > limit(batchBytes) || resultsBytes > limit(resultsLimitBytes)) return undefined;

    if (sampling) item.sampling = sampling;
    this.items.push(item);
    this.#stagingBytes = end;
    this.#histogramsBytes = histogramsBytes;
    this.#mapsBytes = mapsBytes;
    this.#withMap = needsMap;
    return item;
  }
}

function histogramsBytesOf({ parts }: PipelinePlan, { output, bins }: Pipeline): number {
  return 4 * bins * output.channels.length * parts.length;
}

/** At most: a GPU's rows begin up to 15 samples into 16 bytes, and end with such 16 bytes. */
function mapBytesOf({ stages }: PipelinePlan, { output }: Pipeline): number {
  const { width, height } = stages.at(-1)!.out;
  return ((width + 15) * sampleBytes[output.sample] + 15) * height * output.channels.length;
}
