import { type Sampling, sampleBytes } from '@halogrid/geometry';
import { type GpuKernel, type GpuOutput, itemTableBytes, maxItems } from '../kernel/gpu/gpu-kernel.ts';
import type { Operation } from '../kernel/operation.ts';
import type { DenseResult, ItemResult, PlaneItem } from '../kernel/plane-item.ts';
import { largestOf, leadOf, type MapPlace, noPlace, packItems, placeMaps } from './gpu-items.ts';
import type { Pipeline } from './pipeline.ts';
import { type PipelineItem, restrict } from './pipeline-item.ts';
import { sampleResult } from './sampling.ts';

/** Compiles one kernel for one device. */
export type CompileKernel = (device: GPUDevice, operation: Operation, output: GpuOutput) => Promise<GpuKernel>;

/** What a program leaves behind. `cells`: histograms are of parts of the items, see PipelineItem. */
export interface GpuProgramOptions {
  map: boolean;
  cells: boolean;
}

/** One kernel over many items: all of an image, or the parts that are counted apart. */
interface Dispatch {
  kernel: GpuKernel;
  items: readonly PlaneItem[];
  places: readonly MapPlace[];
  /** Bytes of a pixel that it reads. */
  pixelBytes: number;
  /** Index of the planes it reads: 0 are those that were staged, n those that the n-th kernel left. */
  reads: number;
  /** Index of the planes it leaves; absent for results. */
  leaves?: number;
}

/** Where everything of a batch lies. */
export interface GpuBatchLayout {
  readonly dispatches: readonly Dispatch[];
  /** The table of items, `itemTableBytes` for each 1024 of a dispatch; only the beginning of the last is there. */
  readonly table: Uint32Array<ArrayBuffer>;
  /** Bytes of the whole table. */
  readonly tableBytes: number;
  /** Bytes of the planes that each kernel but the last leaves. */
  readonly planesBytes: readonly number[];
  readonly histogramsBytes: number;
  readonly mapsBytes: number;
  /** The last kernel's items and dense results. */
  readonly results: readonly { item: PlaneItem; lead: number; parts: number; map?: MapPlace; sampling?: Sampling }[];
}

/** The buffers of one batch: `table` is uniform, the others are storage, each at least as large as the layout says. */
export interface GpuBatchBuffers {
  /** The staged planes, then those that each kernel but the last leaves. */
  planes: readonly GPUBuffer[];
  table: GPUBuffer;
  /** Zero at first. */
  histograms: GPUBuffer;
  maps: GPUBuffer;
}

/** A pipeline of kernels compiled for one device. */
export class GpuProgram {
  readonly #pipeline: Pipeline;
  readonly #options: GpuProgramOptions;
  /** Every kernel but the last. */
  readonly #first: readonly GpuKernel[];
  /** The last kernel as it is run over items, and over parts of them. */
  readonly #whole: GpuKernel | undefined;
  readonly #parts: GpuKernel | undefined;

  /** Rejects with GPUPipelineError where the device refuses a shader. */
  static async compile(
    device: GPUDevice,
    pipeline: Pipeline,
    options: GpuProgramOptions,
    compile: CompileKernel,
  ): Promise<GpuProgram> {
    const { operations, bins } = pipeline;
    const last = operations.at(-1)!;
    const countsWhole = bins > 0 && !options.cells;
    const countsParts = bins > 0 && options.cells;
    // Where nothing is wanted, nothing is computed.
    const before = options.map || bins > 0 ? operations.slice(0, -1) : [];
    const whole = options.map ? (countsWhole ? 'both' : 'map') : countsWhole ? 'histogram' : undefined;
    const compiled = await Promise.all([
      Promise.all(before.map((operation) => compile(device, operation, 'map'))),
      whole && compile(device, last, whole),
      countsParts ? compile(device, last, 'histogram') : undefined,
    ]);
    return new GpuProgram(pipeline, options, ...compiled);
  }

  private constructor(
    pipeline: Pipeline,
    options: GpuProgramOptions,
    first: readonly GpuKernel[],
    whole: GpuKernel | undefined,
    parts: GpuKernel | undefined,
  ) {
    this.#pipeline = pipeline;
    this.#options = options;
    this.#first = first;
    this.#whole = whole;
    this.#parts = parts;
  }

  /** Lays out a batch. */
  layOut(items: readonly PipelineItem[]): GpuBatchLayout {
    const { operations, output, bins, pixel } = this.#pipeline;
    const dispatches: Dispatch[] = [];
    const planesBytes: number[] = [];
    let planes = items.map((item) => planeOf(item, 0));
    let pixelBytes = sampleBytes[pixel];
    for (const [i, kernel] of this.#first.entries()) {
      const { places, end } = placeMaps(planes, pixelBytes, 1, operations[i]!.output.channels.length);
      dispatches.push({ kernel, items: planes, places, pixelBytes, reads: i, leaves: i + 1 });
      planesBytes.push(end);
      const leads = planes.map((plane) => leadOf(plane, pixelBytes));
      planes = items.map((item, j) => ({ ...planeOf(item, i + 1), ...planesAt(places[j]!, leads[j]!) }));
      pixelBytes = 1;
    }
    const reads = this.#first.length;
    const { places, end } = this.#options.map
      ? placeMaps(planes, pixelBytes, sampleBytes[output.sample], output.channels.length)
      : { places: planes.map(() => noPlace), end: 0 };
    if (this.#whole) dispatches.push({ kernel: this.#whole, items: planes, places, pixelBytes, reads });
    if (this.#parts) {
      const parts = items.flatMap((item, i) => item.parts.map((part) => restrict(planes[i]!, part)));
      dispatches.push({ kernel: this.#parts, items: parts, places: parts.map(() => noPlace), pixelBytes, reads });
    }
    const histograms = items.reduce((sum, { parts }) => sum + this.#histogramsOf(parts.length), 0);
    return {
      dispatches,
      ...tableOf(dispatches),
      planesBytes,
      histogramsBytes: histograms * this.#histogramBytes,
      mapsBytes: end,
      results: planes.map((item, i) => ({
        item,
        lead: leadOf(item, pixelBytes),
        parts: bins > 0 ? this.#histogramsOf(items[i]!.parts.length) : 0,
        map: this.#options.map ? places[i] : undefined,
        sampling: items[i]!.sampling,
      })),
    };
  }

  /** Records a batch. Buffers may be used again once the pass has run. */
  record(
    pass: GPUComputePassEncoder,
    layout: GpuBatchLayout,
    { planes, table, histograms, maps }: GpuBatchBuffers,
  ): void {
    let chunk = 0;
    for (const { kernel, items, pixelBytes, reads, leaves } of layout.dispatches) {
      for (let from = 0; from < items.length; from += maxItems) {
        const some = items.slice(from, from + maxItems);
        const buffers = {
          planes: planes[reads]!,
          items: { buffer: table, offset: itemTableBytes * chunk++ },
          histograms: { buffer: histograms, offset: from * this.#histogramBytes },
          maps: leaves === undefined ? maps : planes[leaves]!,
        };
        kernel.record(pass, buffers, some.length, largestOf(some, pixelBytes));
      }
    }
  }

  /** Copies the results of a batch out of its mapped buffers. */
  unpack(layout: GpuBatchLayout, histograms: Uint32Array, maps: Uint8Array): ItemResult[] {
    const { output } = this.#pipeline;
    let next = 0;
    const unit = sampleBytes[output.sample];
    const bands = output.channels.length;
    return layout.results.map(({ item, lead, parts, map, sampling }) => {
      const length = (parts * this.#histogramBytes) / 4;
      const bins = histograms.slice(next, next + length);
      next += length;
      return {
        counted: item.valid.width * item.valid.height,
        bins,
        map: map && denseResult(maps, map, { lead: lead * unit, unit, bands, sampling }),
      };
    });
  }

  /** Bytes of one histogram, every channel. */
  get #histogramBytes(): number {
    return 4 * this.#pipeline.bins * this.#pipeline.output.channels.length;
  }

  #histogramsOf(parts: number): number {
    return this.#options.cells ? parts : 1;
  }
}

function planeOf({ offset, stride, planeBytes, stages }: PipelineItem, stage: number): PlaneItem {
  return { offset, stride, planeBytes, ...stages[stage]! };
}

/** A dense result of bytes as planes that the next kernel reads. */
function planesAt({ offset, stride, bandBytes }: MapPlace, lead: number) {
  return { offset: offset + lead, stride, planeBytes: bandBytes };
}

function denseResult(
  maps: Uint8Array,
  { offset, stride, bandBytes }: MapPlace,
  { lead, unit, bands, sampling }: { lead: number; unit: number; bands: number; sampling: Sampling | undefined },
): DenseResult {
  const mapped = { bytes: maps.subarray(offset + lead, offset + bandBytes * bands), stride, bandBytes };
  return sampling ? sampleResult(mapped, sampling, unit, bands) : { ...mapped, bytes: mapped.bytes.slice() };
}

/** The items of every dispatch, 1024 at a time, each from a new table on. */
function tableOf(dispatches: readonly Dispatch[]): Pick<GpuBatchLayout, 'table' | 'tableBytes'> {
  const chunks = dispatches.flatMap(({ items, places, pixelBytes }) => {
    return Array.from({ length: Math.ceil(items.length / maxItems) }, (_, i) => {
      const [from, to] = [i * maxItems, (i + 1) * maxItems];
      return packItems(items.slice(from, to), places.slice(from, to), pixelBytes);
    });
  });
  const before = Math.max(0, chunks.length - 1) * itemTableBytes;
  const table = new Uint32Array(before / 4 + (chunks.at(-1)?.length ?? 0));
  chunks.forEach((chunk, i) => {
    table.set(chunk, (i * itemTableBytes) / 4);
  });
  return { table, tableBytes: chunks.length * itemTableBytes };
}
