import { type Sampling, type Size, sampleBytes } from '@halogrid/geometry';
import { type GpuKernel, itemTableBytes, maxItems } from '../kernel/gpu/gpu-kernel.ts';
import { smallCellSide } from '../kernel/gpu/strategy.ts';
import type { PlaneItem } from '../kernel/plane-item.ts';
import { leadOf, type MapPlace, noPlace, packItems, placeMaps } from './gpu-items.ts';
import type { Pipeline } from './pipeline.ts';
import { type PipelineItem, restrict } from './pipeline-item.ts';

/** Cells whose sides are at most `smallCellSide` pixels are small: kernels have strategies for them. */
export type CellSize = 'small' | 'large';

/** The results of a program. `cells`: histograms are of parts of the items, see PipelineItem. */
export interface GpuProgramOptions {
  map: boolean;
  cells?: CellSize;
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
}

/** One kernel over many items: the items of a batch, or the parts that are counted separately. */
interface Dispatch {
  kernel: GpuKernel;
  items: readonly PlaneItem[];
  places: readonly MapPlace[];
  /** Bytes of a pixel that the kernel reads. */
  pixelBytes: number;
  /** Index of the planes that it reads: 0 are the staged planes, n those that the n-th kernel wrote. */
  reads: number;
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
  /** The last kernel's items and dense results. */
  readonly results: readonly { item: PlaneItem; lead: number; parts: number; map?: MapPlace; sampling?: Sampling }[];
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
  const planesBytes: number[] = [];
  let planes = items.map((item) => planeOf(item, 0));
  let pixelBytes = sampleBytes[pixel];
  for (const [i, kernel] of kernels.first.entries()) {
    const { places, end } = placeMaps(planes, pixelBytes, 1, operations[i]!.output.channels.length);
    dispatches.push({ kernel, items: planes, places, pixelBytes, reads: i, leaves: i + 1 });
    planesBytes.push(end);
    const leads = planes.map((plane) => leadOf(plane, pixelBytes));
    planes = items.map((item, j) => ({ ...planeOf(item, i + 1), ...planesAt(places[j]!, leads[j]!) }));
    pixelBytes = 1;
  }
  const reads = kernels.first.length;
  const { places, end } = options.map
    ? placeMaps(planes, pixelBytes, sampleBytes[output.sample], output.channels.length)
    : { places: planes.map(() => noPlace), end: 0 };
  if (kernels.whole) dispatches.push({ kernel: kernels.whole, items: planes, places, pixelBytes, reads });
  if (kernels.parts) {
    const parts = items.flatMap((item, i) => item.parts.map((part) => restrict(planes[i]!, part)));
    dispatches.push({ kernel: kernels.parts, items: parts, places: parts.map(() => noPlace), pixelBytes, reads });
  }
  const histograms = items.reduce((sum, { parts }) => sum + histogramsOf(parts.length), 0);
  return {
    dispatches,
    ...tableOf(dispatches),
    planesBytes,
    histogramsBytes: histograms * histogramBytesOf(pipeline),
    mapsBytes: end,
    results: planes.map((item, i) => ({
      item,
      lead: leadOf(item, pixelBytes),
      parts: bins > 0 ? histogramsOf(items[i]!.parts.length) : 0,
      map: options.map ? places[i] : undefined,
      sampling: items[i]!.sampling,
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
