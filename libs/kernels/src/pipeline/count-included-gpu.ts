import { type BitPlane, emptySample, type Rect, type Size, sampleBytes } from '@halogrid/geometry';
import { stepOf } from '../kernel/binning.ts';
import { compileKernel, type GpuKernel, itemWords } from '../kernel/gpu/gpu-kernel.ts';
import type { PlaneItem } from '../kernel/plane-item.ts';
import { readText } from '../kernel/read-beside.ts';
import { pixelsOfChannel, planeOfChannel } from './count-included.ts';
import type { MapPlace } from './gpu-items.ts';
import type { Pipeline } from './pipeline.ts';
import { type PipelineItem, restrict } from './pipeline-item.ts';

const code = readText(new URL('./count-included.wgsl', import.meta.url));

/** The most bins of a channel that a workgroup counts in its own memory: they fill the 16 KiB that every device has. */
const mostOwnBins = 4096;

/** Lanes of a workgroup, as count-included.wgsl has them. */
const lanes: Size = { width: 64, height: 4 };

/** `src` of an item that has no excluded pixel. */
const noPlane = 0xffff_ffff;

/** Compiles the program that counts the dense results of a pipeline's last kernel without excluded pixels. */
export function compileCountIncluded(
  device: GPUDevice,
  { output, bins, binning, operations }: Pipeline,
): Promise<GpuKernel> {
  const { sample } = output;
  const { border, reads = 'u8' } = operations.at(-1)!;
  const step = binning ? stepOf(binning, reads) : 1;
  return compileKernel(device, {
    label: `included.${sample}`,
    code,
    entryPoint: 'count_included',
    output: bins > 0 ? 'both' : 'map',
    border,
    constants: {
      SAMPLE_BYTES: sampleBytes[sample],
      IS_SIGNED: Number(sample === 'i16'),
      IS_REAL: Number(sample === 'f32'),
      EXCLUDED: excludedWords[sample],
      COUNTS: Number(bins > 0),
      REAL_STEP: step,
      WHOLE_STEP: sample === 'f32' ? 1 : step,
      BIN_FIRST: binning?.first ?? 0,
      BIN_LAST: Math.max(0, bins - 1),
      ...(bins > 0 && { BINS: bins, PRIVATE_BINS: bins <= mostOwnBins ? bins : 0, COPIES: bins <= 256 ? 4 : 1 }),
    },
    groupPixels: lanes,
  });
}

/** Words of excluded samples. */
const excludedWords = {
  u8: emptySample.u8,
  u16: emptySample.u16,
  u32: emptySample.u32,
  i16: 0x8000_8000,
  // The NaN that processors make.
  f32: 0x7fc0_0000,
} as const;

/** What count-included.wgsl reads: the planes of all items, and an item for each channel of each part. */
export interface IncludedItems {
  readonly planes: Uint32Array<ArrayBuffer>;
  /** As `struct Item` of item.wgsl. */
  readonly table: Uint32Array<ArrayBuffer>;
  /** Words of a row, and rows, of each item. */
  readonly sizes: readonly Size[];
}

/** A dense result in device memory, and what it is of. */
export interface IncludedSource extends Pick<PipelineItem, 'excluded'> {
  /** The last kernel's item. */
  plane: PlaneItem;
  /** The parts of its `out` that have their own histogram. */
  parts: readonly Rect[];
  place: MapPlace;
  lead: number;
}

/** Lays out the planes and items for these dense results. */
export function packIncluded(pipeline: Pipeline, sources: readonly IncludedSource[]): IncludedItems {
  const unit = sampleBytes[pipeline.output.sample];
  const channels = pipeline.output.channels.length;
  const distinct = [...new Set(sources.flatMap(({ excluded }) => excluded ?? []))];
  const [starts, planes] = joined(distinct);
  const rows: number[][] = [];
  const sizes: Size[] = [];
  for (const { excluded, plane, parts, place, lead } of sources) {
    for (const part of parts) {
      for (let channel = 0; channel < channels; channel++) {
        const own = excluded && planeOfChannel(excluded, channel);
        const valid = pixelsOfChannel(pipeline, restrict(plane, part), channel);
        const [x, y] = [part.x - plane.out.x, part.y - plane.out.y];
        const [validX, validY] = [valid.x - part.x, valid.y - part.y];
        rows.push([
          own ? starts.get(own)! : noPlane,
          own?.rowWords ?? 0,
          ...[0, 0, x, y, part.width, part.height],
          ...[validX, validY, validX + valid.width, validY + valid.height],
          (place.offset + channel * place.bandBytes) / 16,
          place.stride / 16,
          lead,
        ]);
        const samples = 4 / unit;
        const width = Math.ceil((lead + x + part.width) / samples) - Math.floor((lead + x) / samples);
        sizes.push({ width, height: part.height });
      }
    }
  }
  const table = new Uint32Array(rows.length * itemWords);
  for (const [i, words] of rows.entries()) table.set(words, i * itemWords);
  return { planes, table, sizes };
}

/** The words of planes one after another, in whole vectors, and where each begins. */
function joined(planes: readonly BitPlane[]): [starts: Map<BitPlane, number>, words: Uint32Array<ArrayBuffer>] {
  const starts = new Map<BitPlane, number>();
  let end = 0;
  for (const plane of planes) {
    starts.set(plane, end);
    end += plane.words.length;
  }
  const words = new Uint32Array(Math.ceil(end / 4) * 4);
  for (const [plane, start] of starts) words.set(plane.words, start);
  return [starts, words];
}
