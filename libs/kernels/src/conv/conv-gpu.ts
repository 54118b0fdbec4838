import { type PixelType, type Size, sampleBytes } from '@halogrid/geometry';
import { stepOf } from '../kernel/binning.ts';
import { compileKernel, type GpuKernel, type GpuOutput } from '../kernel/gpu/gpu-kernel.ts';
import { type GpuHost, inShapes, type Strategy } from '../kernel/gpu/strategy.ts';
import type { Operation } from '../kernel/operation.ts';
import { lanePixels } from '../kernel/plane-item.ts';
import { readText } from '../kernel/read-beside.ts';
import { type Arithmetic, hasExactSums } from './arithmetic.ts';
import type { ConvSettings } from './conv.ts';
import { directTable } from './gpu-table.ts';
import { separableSums, separableTable } from './separable-sums.ts';
import type { Factors } from './separate.ts';

const tile = readText(new URL('./tile.wgsl', import.meta.url));
const sums = readText(new URL('./sums.wgsl', import.meta.url));
const bins = readText(new URL('./bins.wgsl', import.meta.url));
const directCode = `${tile}\n${sums}\n${bins}\n${readText(new URL('./direct.wgsl', import.meta.url))}`;
const separableCode = `${tile}\n${bins}\n${readText(new URL('./separable.wgsl', import.meta.url))}`;

/**
 * Shapes of workgroups of `workgroup` and `global`; a lane computes a vector of 16 pixels. Wide tiles of large matrices
 * do not fit every device.
 */
const directShapes = ['16x16', '16x8', '32x8', '8x16', '8x32'];
/**
 * Shapes of workgroups of `separable`; a lane computes four columns of four rows. With little workgroup memory, groups
 * have fewer rows. Measured on an H200, a Gaussian of 21 x 21 over 4928 x 2772: 0.061, 0.070, 0.069 and 0.098 ms.
 */
const separableShapes = ['16x16', '16x12', '16x8', '32x8'];
/** Bytes of workgroup memory that every device has. */
const workgroupBytes = 16384;
const histogramBytes = 4 * 256;
/**
 * The most bins that a workgroup counts in its own memory. If there are more bins, it counts those around 0 there: most
 * results of an image are near 0.
 */
const mostPrivateBins = 1024;

const arithmetics: readonly Arithmetic['kind'][] = ['sum', 'magnitude', 'exact'];
const samples: readonly string[] = ['f32', 'i16', 'u8'];

/** Convolution on GPUs. */
export const convOnGpu: GpuHost<ConvSettings> = {
  variant: ({ settings, reads = 'u8' }) => {
    const arithmetic = settings.arithmetic[reads];
    const path = separableFactors(settings, arithmetic) ? 'separable' : 'direct';
    return `${path}-${arithmetic.side}-${sumsOf(arithmetic, reads)}-${settings.as}${reads === 'u8' ? '' : '-of-u16'}`;
  },
  strategies: ({ settings, reads = 'u8' }) => {
    const arithmetic = settings.arithmetic[reads];
    const fits = ({ lanes }: Strategy) => tileBytes(lanes, arithmetic.side, reads) + histogramBytes <= workgroupBytes;
    const hasRows = ({ lanes }: Strategy) => separableRows(lanes, arithmetic.side, workgroupBytes - histogramBytes) > 0;
    // The other programs are for 8-bit pixels.
    if (reads === 'u16') return inShapes('workgroup', directShapes).filter(fits);
    const isSeparable = separableFactors(settings, arithmetic) !== undefined;
    // Another path may add in another order, or be compiled with other rounding.
    const isExact = sumsOf(arithmetic, reads) !== 'real';
    return [
      ...(isSeparable ? inShapes('separable', separableShapes).filter(hasRows) : []),
      ...inShapes('workgroup', directShapes, isExact || !isSeparable).filter(fits),
      ...inShapes('global', directShapes, isExact),
    ];
  },
  compile: (device, operation, output, strategy) => {
    const arithmetic = operation.settings.arithmetic[operation.reads ?? 'u8'];
    const factors = separableFactors(operation.settings, arithmetic);
    return strategy.name === 'separable'
      ? compileSeparable(device, operation, factors!, output, strategy)
      : compileDirect(device, operation, arithmetic, output, strategy);
  },
};

/** The factors of a matrix whose rows and columns can be filtered one after the other; otherwise undefined. */
function separableFactors({ as }: ConvSettings, arithmetic: Arithmetic): ScaledFactors | undefined {
  if (arithmetic.kind !== 'sum' || as !== 'f32') return undefined;
  return arithmetic.factors && { ...arithmetic.factors, scale: arithmetic.scale };
}

interface ScaledFactors extends Factors {
  scale: number;
}

/** The kind of sums. All but `real` have the same result in any order. */
function sumsOf(arithmetic: Arithmetic, reads: PixelType): 'integer' | 'real' | 'magnitude' | 'exact' {
  if (arithmetic.kind !== 'sum') return arithmetic.kind;
  return hasExactSums(arithmetic.taps, reads) ? 'integer' : 'real';
}

function compileDirect(
  device: GPUDevice,
  { settings, output: { sample, channels }, border, reads = 'u8' }: Operation<ConvSettings>,
  arithmetic: Arithmetic,
  output: GpuOutput,
  { name, lanes }: Strategy,
): Promise<GpuKernel> {
  const { side, kind } = arithmetic;
  const isTiled = name === 'workgroup';
  const room = device.limits.maxComputeWorkgroupStorageSize - (isTiled ? tileBytes(lanes, side, reads) : 0);
  return compileKernel(device, {
    label: `conv.${name}.${kind}.${output}`,
    code: directCode,
    entryPoint: 'direct',
    output,
    border,
    reads,
    constants: {
      SIDE: side,
      GROUP_VECTORS: lanes.width,
      GROUP_ROWS: lanes.height,
      TILE_VECTORS: tileVectors(lanes.width),
      THREADS: lanes.width * lanes.height,
      CHANNELS: channels.length,
      TILED: Number(isTiled),
      ARITHMETIC: arithmetics.indexOf(kind),
      ...(kind === 'sum' && { SCALE: arithmetic.scale }),
      ...(kind === 'exact' && { SHIFT: arithmetic.shift }),
      SAMPLE: samples.indexOf(sample),
      ...binConstants(settings, reads),
      ...(output !== 'map' && privateBins(settings, room)),
    },
    groupPixels: { width: lanes.width * lanePixels, height: lanes.height },
    groupsAnItem: channels.length,
    table: directTable(arithmetic),
  });
}

/** The constants of bins.wgsl. */
function binConstants({ as, binning }: ConvSettings, reads: PixelType): Record<string, number> {
  const { bins, first } = binning;
  const step = stepOf(binning, reads);
  return { [as === 'f32' ? 'REAL_STEP' : 'WHOLE_STEP']: step, BIN_FIRST: first, BIN_LAST: bins - 1 };
}

/** The bins counted in `room` bytes of workgroup memory: all if they fit, otherwise those around 0. */
function privateBins({ binning: { bins, first } }: ConvSettings, room: number): Record<string, number> {
  const count = Math.min(bins, mostPrivateBins, Math.floor(room / 4));
  const from = Math.min(Math.max(-first - Math.floor(count / 2), 0), bins - count);
  const copies = bins <= 256 && room >= 4 * histogramBytes ? 4 : 1;
  return { BINS: bins, FIRST_PRIVATE: from, PRIVATE_BINS: count, COPIES: copies };
}

/**
 * Length of a row of a tile in each of its four planes, in words, chosen so that 32 lanes in a row never meet in a
 * memory bank: rows of 16 or 8 vectors begin 16 or 8 banks apart.
 */
function tileVectors(vectors: number): number {
  return vectors === 16 ? 20 : vectors + 2;
}

function tileBytes({ width, height }: Size, side: number, reads: PixelType): number {
  return sampleBytes[reads] * lanePixels * tileVectors(width) * (height + side - 1);
}

function compileSeparable(
  device: GPUDevice,
  { settings, output: { channels }, border }: Operation<ConvSettings>,
  factors: ScaledFactors,
  output: GpuOutput,
  { lanes }: Strategy,
): Promise<GpuKernel> {
  const side = factors.vertical.length;
  const room = output === 'map' ? 0 : histogramBytes;
  const rows = separableRows(lanes, side, device.limits.maxComputeWorkgroupStorageSize - room);
  const blocks = Math.ceil((rows + side - 1) / 4);
  return compileKernel(device, {
    label: `conv.separable.${output}`,
    code: `${separableCode}\n${separableSums(side, lanes.width, blocks)}`,
    entryPoint: 'separable',
    output,
    border,
    constants: {
      SIDE: side,
      GROUP_VECTORS: lanes.width / 4,
      GROUP_ROWS: rows,
      THREADS: (lanes.width * rows) / 4,
      CHANNELS: channels.length,
      SCALE: factors.scale,
      ...binConstants(settings, 'u8'),
      ...(output !== 'map' && privateBins(settings, room)),
    },
    groupPixels: { width: 4 * lanes.width, height: rows },
    groupsAnItem: channels.length,
    table: separableTable(factors),
  });
}

/** Rows that a group of `separable` computes, a multiple of four, as many as its memory can hold with their halo. */
function separableRows({ width, height }: Size, side: number, bytes: number): number {
  const fitting = Math.floor(bytes / (4 * 16 * width)) - Math.ceil((side - 1) / 4);
  return 4 * Math.min(height, Math.max(fitting, 0));
}
