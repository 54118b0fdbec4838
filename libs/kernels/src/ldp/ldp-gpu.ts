import { compileKernel, type GpuKernel, type GpuOutput } from '../kernel/gpu/gpu-kernel.ts';
import { type GpuHost, inShapes, type Strategy } from '../kernel/gpu/strategy.ts';
import type { Operation } from '../kernel/operation.ts';
import { readText } from '../kernel/read-beside.ts';
import type { LdpSettings } from './ldp.ts';

const code = readText(new URL('./ldp.wgsl', import.meta.url));

/** Pixels per row that a lane computes. */
const lanePixels = 16;
/** Rows that a workgroup computes, strip after strip: its 1024 counts are added once every 8192 pixels. */
const rows = 64;
/** Bins of the four directions together. */
const bins = 4 * 256;

/**
 * Strips of 32, 16 and 8 rows. Fewer rows have more halo each, and let more workgroups run at once. The default leaves
 * room for one histogram in the 16 KiB that every device has, half its rows for two interleaved ones. Measured on an
 * H200, 4096 x 2160 with half of the image black, order 3, map and histogram: 0.074, 0.094 and 0.145 ms.
 */
const strategies = inShapes('strip', ['8x32', '8x16', '8x8']);
/** 16-bit pixels take twice the memory: 32 rows do not fit, and 16 leave room for one histogram. */
const deepStrategies = strategies.slice(1);
/**
 * Strips of two lanes. In cells of 16 x 16 pixels the default would leave 15 of 16 lanes idle. Measured on an H200 for
 * 4096 x 4096 pixels, order 3: cells of 16 x 16 take 0.89 ms against 1.25, cells of 64 x 64 0.16 against 0.18.
 */
const smallCells = inShapes('strip', ['2x32'])[0]!;

/** LDP on GPUs. */
export const ldpOnGpu: GpuHost<LdpSettings> = {
  variant: ({ settings, reads }) => `order-${settings.order}${reads === 'u16' ? '-of-u16' : ''}`,
  strategies: ({ reads }) => (reads === 'u16' ? deepStrategies : strategies),
  smallCells: () => smallCells,
  compile: compileLdp,
};

function compileLdp(
  device: GPUDevice,
  { settings: { order }, border, reads = 'u8' }: Operation<LdpSettings>,
  output: GpuOutput,
  { lanes }: Strategy,
): Promise<GpuKernel> {
  const rowsOfTwo = reads === 'u8' ? 16 : 8;
  return compileKernel(device, {
    label: `ldp.strip.${output}`,
    code,
    entryPoint: 'ldp',
    output,
    border,
    reads,
    constants: {
      ORDER: order,
      LANES_X: lanes.width,
      LANES_Y: lanes.height,
      STRIPS: rows / lanes.height,
      ...(output !== 'map' && {
        BINS: bins,
        COPIES: lanes.height > rowsOfTwo || lanes.width * lanes.height < 64 ? 1 : 2,
      }),
    },
    groupPixels: { width: lanePixels * lanes.width, height: rows },
  });
}
