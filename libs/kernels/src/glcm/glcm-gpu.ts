import { sampleBytes } from '@halogrid/geometry';
import { compileKernel, type GpuKernel, type GpuOutput } from '../kernel/gpu/gpu-kernel.ts';
import { type GpuHost, inShapes, type Strategy } from '../kernel/gpu/strategy.ts';
import type { Operation } from '../kernel/operation.ts';
import { readText } from '../kernel/read-beside.ts';
import type { GlcmSettings } from './parameters.ts';

const code = readText(new URL('./glcm.wgsl', import.meta.url));

/** Pixels per row that a lane computes. */
const lanePixels = 16;
/** Rows that a workgroup computes: many, because adding its counts to the item's takes an addition for each bin. */
const rows = 128;
/**
 * Bins of a workgroup, unless one offset has more: half of the workgroup memory that every device has. On an H100, four
 * offsets of 32 levels take 0.056 ms so, with all in one workgroup 0.064, and with one in each 0.061 (measured).
 */
const mostBins = 2048;
/** Steps of the table that the shader declares. */
const mostOffsets = 16;

/** Workgroups of 256 and 128 lanes. More lanes share the memory of the matrices. */
const strategies = inShapes('strip', ['8x32', '8x16', '4x32']);
/** Strips of two lanes, because a cell has few columns. */
const smallCells = inShapes('strip', ['2x64'])[0]!;

/** GLCM on GPUs. */
export const glcmOnGpu: GpuHost<GlcmSettings> = {
  variant: ({ settings: { levels, offsets }, reads }) =>
    `levels-${levels}-offsets-${offsets.length}${reads === 'u16' ? '-of-u16' : ''}`,
  strategies: () => strategies,
  smallCells: () => smallCells,
  compile: compileGlcm,
};

function compileGlcm(
  device: GPUDevice,
  { settings: { levels, steps }, output: { sample }, border, reads = 'u8' }: Operation<GlcmSettings>,
  output: GpuOutput,
  { lanes }: Strategy,
): Promise<GpuKernel> {
  const together = offsetsTogether(levels, steps.length);
  const groupsAnItem = steps.length / together;
  const table = new Int32Array(4 * mostOffsets);
  for (const [i, { x, y }] of steps.entries()) table.set([x, y], 4 * i);
  return compileKernel(device, {
    label: `glcm.strip.${output}`,
    code,
    entryPoint: 'glcm',
    output,
    border,
    reads,
    constants: {
      LANES_X: lanes.width,
      LANES_Y: lanes.height,
      STRIPS: rows / lanes.height,
      LEVELS: levels,
      OFFSETS: together,
      OFFSET_GROUPS: groupsAnItem,
      ...(output !== 'histogram' && { SAMPLE_BYTES: sampleBytes[sample] }),
      ...(output !== 'map' && { BINS: together * levels ** 2, COPIES: 1 }),
    },
    groupPixels: { width: lanePixels * lanes.width, height: rows },
    groupsAnItem,
    table,
  });
}

/** The offsets that a workgroup computes: as many as fit, and so many that all workgroups have the same number. */
export function offsetsTogether(levels: number, offsets: number): number {
  let together = Math.max(1, Math.min(offsets, Math.floor(mostBins / levels ** 2)));
  while (offsets % together !== 0) together--;
  return together;
}
