import { type Sampling, sampleBytes } from '@halogrid/geometry';
import { type GpuKernel, type GpuOutput, itemTableBytes, maxItems } from '../kernel/gpu/gpu-kernel.ts';
import type { Operation } from '../kernel/operation.ts';
import { addTransposes } from '../kernel/pairs.ts';
import type { DenseResult, ItemResult } from '../kernel/plane-item.ts';
import { countedOf } from './count-included.ts';
import { compileCountIncluded } from './count-included-gpu.ts';
import { largestOf, type MapPlace } from './gpu-items.ts';
import {
  type GpuBatchLayout,
  type GpuKernels,
  type GpuProgramOptions,
  histogramBytesOf,
  layOutBatch,
} from './gpu-layout.ts';
import type { Pipeline } from './pipeline.ts';
import type { PipelineItem } from './pipeline-item.ts';
import { sampleResult } from './sampling.ts';

/** Compiles one kernel for one device. */
export type CompileKernel = (
  device: GPUDevice,
  operation: Operation,
  output: GpuOutput,
  ofSmallCells: boolean,
) => Promise<GpuKernel>;

/**
 * The buffers of one batch: `table` is uniform, the others are storage. Each has at least the size that the layout
 * requires.
 */
export interface GpuBatchBuffers {
  /** The staged planes, then the planes that each kernel but the last writes. */
  planes: readonly GPUBuffer[];
  table: GPUBuffer;
  /** Must be zero at first. */
  histograms: GPUBuffer;
  maps: GPUBuffer;
  /** The planes of excluded pixels, if there are any. */
  excluded?: GPUBuffer | undefined;
}

/** A pipeline of kernels compiled for one device. */
export class GpuProgram {
  readonly #pipeline: Pipeline;
  readonly #options: GpuProgramOptions;
  readonly #kernels: GpuKernels;

  /** Rejects with GPUPipelineError if the device refuses a shader. */
  static async compile(
    device: GPUDevice,
    pipeline: Pipeline,
    options: GpuProgramOptions,
    compile: CompileKernel,
  ): Promise<GpuProgram> {
    const { operations, bins } = pipeline;
    const last = operations.at(-1)!;
    // If no results are wanted, nothing is computed.
    const computes = options.map || bins > 0;
    const before = computes ? operations.slice(0, -1) : [];
    const includes = computes && options.excludes === true;
    const counts = bins > 0 && !includes;
    const countsWhole = counts && !options.cells;
    const countsParts = counts && options.cells !== undefined;
    const makesMap = options.map || includes;
    const output = makesMap ? (countsWhole ? 'both' : 'map') : countsWhole ? 'histogram' : undefined;
    const [first, whole, parts, included] = await Promise.all([
      Promise.all(before.map((operation) => compile(device, operation, 'map', false))),
      output && compile(device, last, output, false),
      countsParts ? compile(device, last, 'histogram', options.cells === 'small') : undefined,
      includes ? compileCountIncluded(device, pipeline) : undefined,
    ]);
    return new GpuProgram(pipeline, options, { first, whole, parts, included });
  }

  private constructor(pipeline: Pipeline, options: GpuProgramOptions, kernels: GpuKernels) {
    this.#pipeline = pipeline;
    this.#options = options;
    this.#kernels = kernels;
  }

  /** Lays out a batch. */
  layOut(items: readonly PipelineItem[]): GpuBatchLayout {
    return layOutBatch(this.#pipeline, this.#options, this.#kernels, items);
  }

  /** Records a batch. Buffers may be used again once the pass has run. */
  record(
    pass: GPUComputePassEncoder,
    layout: GpuBatchLayout,
    { planes, table, histograms, maps, excluded }: GpuBatchBuffers,
  ): void {
    let chunk = 0;
    for (const { kernel, sizes, histogramBytes, reads, leaves } of layout.dispatches) {
      for (let from = 0; from < sizes.length; from += maxItems) {
        const some = sizes.slice(from, from + maxItems);
        const buffers = {
          planes: reads === 'excluded' ? excluded! : planes[reads]!,
          items: { buffer: table, offset: itemTableBytes * chunk++ },
          histograms: { buffer: histograms, offset: from * histogramBytes },
          maps: leaves === undefined ? maps : planes[leaves]!,
        };
        kernel.record(pass, buffers, some.length, largestOf(some));
      }
    }
  }

  /**
   * Copies the results of a batch out of its mapped buffers, all histograms into one array. Dense results lie in the
   * copy of `maps` that `copy` returns, unless all are sampled; `copy` is called at most once.
   */
  unpack(
    layout: GpuBatchLayout,
    histograms: Uint32Array,
    maps: Uint8Array,
    copy: (maps: Uint8Array) => Uint8Array = (all) => all.slice(),
  ): ItemResult[] {
    const { output, pairs } = this.#pipeline;
    const histogramBytes = histogramBytesOf(this.#pipeline);
    let next = 0;
    const unit = sampleBytes[output.sample];
    const bands = output.channels.length;
    const counts = histograms.slice();
    if (pairs?.isSymmetric) addTransposes(counts, pairs.levels);
    const dense = layout.results.some(({ map, sampling }) => map && !sampling) ? copy(maps) : maps;
    return layout.results.map(({ item, lead, parts, map, sampling, excluded }) => {
      const length = (parts * histogramBytes) / 4;
      const bins = counts.subarray(next, next + length);
      next += length;
      return {
        counted: countedOf(this.#pipeline, item, excluded),
        bins,
        map: map && denseResult(dense, map, { lead: lead * unit, unit, bands, sampling }),
      };
    });
  }
}

function denseResult(
  maps: Uint8Array,
  { offset, stride, bandBytes }: MapPlace,
  { lead, unit, bands, sampling }: { lead: number; unit: number; bands: number; sampling: Sampling | undefined },
): DenseResult {
  const mapped = { bytes: maps.subarray(offset + lead, offset + bandBytes * bands), stride, bandBytes };
  return sampling ? sampleResult(mapped, sampling, unit, bands) : mapped;
}
