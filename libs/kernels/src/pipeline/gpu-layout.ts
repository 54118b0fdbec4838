import { type BitPlane, type Sampling, type Size, sampleBytes } from '@halogrid/geometry';
import { type GpuKernel, itemTableBytes, itemWords, maxItems } from '../kernel/gpu/gpu-kernel.ts';
import { smallCellSide } from '../kernel/gpu/strategy.ts';
import type { PlaneItem } from '../kernel/plane-item.ts';
import { packIncluded } from './count-included-gpu.ts';
import { leadOf, type MapPlace, noPlace, packItems, placeMaps, sizeWithLead } from './gpu-items.ts';
import type { Pipeline } from './pipeline.ts';
import { type PipelineItem, restrict } from './pipeline-item.ts';

/** Cells whose sides are at most `smallCellSide` pixels are small: kernels have strategies for them. */
export type CellSize = 'small' | 'large';

/**
 * The results of a program. `cells`: histograms are of parts of the items, see PipelineItem. `excludes`: some items
 * have excluded pixels.
 */
export interface GpuProgramOptions {
  map: boolean;
  cells?: CellSize;
  excludes?: boolean;
}

/** The size of the cells of a batch; undefined if each item is one cell. */
export function cellSizeOf(items: readonly PipelineItem[]): CellSize | undefined {
  if (items.every(({ parts }) => parts.length <= 1)) return undefined;
  const isSmall = ({ width, height }: Size) => Math.max(width, height) <= smallCellSide;
  return items.every(({ parts }) => parts.every(isSmall)) ? 'small' : 'large';
}

/** The kernels of a pipeline, compiled for one device. */
export interface GpuKernels {
  /** Every kernel but the last. */
  readonly first: readonly GpuKernel[];
  /** The last kernel, run over whole items, and over parts of them. */
  readonly whole: GpuKernel | undefined;
  readonly parts: GpuKernel | undefined;
  /** Counts the dense results of the last kernel, if some items have excluded pixels. */
  readonly included?: GpuKernel | undefined;
}

/** One kernel over many items: the items of a batch, or the parts that are counted separately. */
interface Dispatch {
  kernel: GpuKernel;
  /** Its items, as `struct Item` of item.wgsl. */
  table: Uint32Array<ArrayBuffer>;
  /** The size of each item, as the kernel's dispatch counts. */
  sizes: readonly Size[];
  /** Bytes of the histograms of an item. */
  histogramBytes: number;
  /** Index of the planes that it reads: 0 are the staged planes, n those that the n-th kernel wrote. */
  reads: number | 'excluded';
  /** Index of the planes that it writes; absent if it writes results. */
  leaves?: number;
}

/** Where everything of a batch lies in the buffers. */
export interface GpuBatchLayout {
  readonly dispatches: readonly Dispatch[];
  /** The tables of items, one for each 1024 items of a dispatch, `itemTableBytes` apart; the last one is cut short. */
  readonly table: Uint32Array<ArrayBuffer>;
  /** Bytes of the whole table. */
  readonly tableBytes: number;
  /** Bytes of the planes that each kernel but the last writes. */
  readonly planesBytes: readonly number[];
  readonly histogramsBytes: number;
  readonly mapsBytes: number;
  /** Whether dense results are wanted, and not only counted on the device. */
  readonly readsMaps: boolean;
  /** The planes of excluded pixels; empty if there are none. */
  readonly excluded: Uint32Array<ArrayBuffer>;
  /** The last kernel's items and dense results. */
  readonly results: readonly {
    item: PlaneItem;
    lead: number;
    parts: number;
    map?: MapPlace;
    sampling?: Sampling;
    excluded?: readonly BitPlane[];
  }[];
}

/** Decides where everything of a batch lies, and which kernels run over which items. */
export function layOutBatch(
  pipeline: Pipeline,
  options: GpuProgramOptions,
  kernels: GpuKernels,
  items: readonly PipelineItem[],
): GpuBatchLayout {
  const { operations, output, bins, pixel } = pipeline;
  const histogramsOf = (parts: number): number => (options.cells ? parts : 1);
  const dispatches: Dispatch[] = [];
  const histogramBytes = histogramBytesOf(pipeline);
  const dispatch = (
    kernel: GpuKernel,
    its: readonly PlaneItem[],
    places: readonly MapPlace[],
    pixelBytes: number,
    reads: number,
    leaves?: number,
  ): void => {
    const table = packItems(its, places, pixelBytes);
    const sizes = its.map((item) => sizeWithLead(item, pixelBytes));
    dispatches.push({ kernel, table, sizes, histogramBytes, reads, ...(leaves !== undefined && { leaves }) });
  };
  const planesBytes: number[] = [];
  let planes = items.map((item) => planeOf(item, 0));
  let pixelBytes = sampleBytes[pixel];
  for (const [i, kernel] of kernels.first.entries()) {
    const { places, end } = placeMaps(planes, pixelBytes, 1, operations[i]!.output.channels.length);
    dispatch(kernel, planes, places, pixelBytes, i, i + 1);
    planesBytes.push(end);
    const leads = planes.map((plane) => leadOf(plane, pixelBytes));
    planes = items.map((item, j) => ({ ...planeOf(item, i + 1), ...planesAt(places[j]!, leads[j]!) }));
    pixelBytes = 1;
  }
  const reads = kernels.first.length;
  const makesMaps = options.map || kernels.included !== undefined;
  const { places, end } = makesMaps
    ? placeMaps(planes, pixelBytes, sampleBytes[output.sample], output.channels.length)
    : { places: planes.map(() => noPlace), end: 0 };
  if (kernels.whole) dispatch(kernels.whole, planes, places, pixelBytes, reads);
  if (kernels.parts) {
    const parts = items.flatMap((item, i) => item.parts.map((part) => restrict(planes[i]!, part)));
    dispatch(
      kernels.parts,
      parts,
      parts.map(() => noPlace),
      pixelBytes,
      reads,
    );
  }
  let excluded = new Uint32Array(0);
  if (kernels.included) {
    const sources = items.map(({ excluded, parts }, i) => {
      const plane = planes[i]!;
      const its = options.cells ? parts : [plane.out];
      return { excluded, plane, parts: its, place: places[i]!, lead: leadOf(plane, pixelBytes) };
    });
    const { planes: words, table, sizes } = packIncluded(pipeline, sources);
    excluded = words;
    dispatches.push({ kernel: kernels.included, table, sizes, histogramBytes: 4 * bins, reads: 'excluded' });
  }
  const histograms = items.reduce((sum, { parts }) => sum + histogramsOf(parts.length), 0);
  return {
    dispatches,
    ...tableOf(dispatches),
    planesBytes,
    histogramsBytes: histograms * histogramBytes,
    mapsBytes: end,
    readsMaps: options.map,
    excluded,
    results: planes.map((item, i) => ({
      item,
      lead: leadOf(item, pixelBytes),
      parts: bins > 0 ? histogramsOf(items[i]!.parts.length) : 0,
      map: options.map ? places[i] : undefined,
      sampling: items[i]!.sampling,
      excluded: items[i]!.excluded,
    })),
  };
}

/** Bytes of one histogram with all its channels. */
export function histogramBytesOf({ bins, output }: Pipeline): number {
  return 4 * bins * output.channels.length;
}

function planeOf({ offset, stride, planeBytes, stages }: PipelineItem, stage: number): PlaneItem {
  return { offset, stride, planeBytes, ...stages[stage]! };
}

/** A dense 8-bit result as planes for the next kernel. */
function planesAt({ offset, stride, bandBytes }: MapPlace, lead: number) {
  return { offset: offset + lead, stride, planeBytes: bandBytes };
}

/** The items of every dispatch, in tables of 1024. */
function tableOf(dispatches: readonly Dispatch[]): Pick<GpuBatchLayout, 'table' | 'tableBytes'> {
  const chunks = dispatches.flatMap(({ table, sizes }) =>
    Array.from({ length: Math.ceil(sizes.length / maxItems) }, (_, i) =>
      table.subarray(i * maxItems * itemWords, (i + 1) * maxItems * itemWords),
    ),
  );
  const before = Math.max(0, chunks.length - 1) * itemTableBytes;
  const table = new Uint32Array(before / 4 + (chunks.at(-1)?.length ?? 0));
  chunks.forEach((chunk, i) => {
    table.set(chunk, (i * itemTableBytes) / 4);
  });
  return { table, tableBytes: chunks.length * itemTableBytes };
}
