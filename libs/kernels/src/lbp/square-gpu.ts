import { compileKernel, type GpuKernel, type GpuOutput } from '../kernel/gpu/gpu-kernel.ts';
import { type GpuHost, inShapes, type Strategy } from '../kernel/gpu/strategy.ts';
import type { Operation } from '../kernel/operation.ts';
import { readText } from '../kernel/read-beside.ts';
import type { LbpRing } from './parameters.ts';

const vectorCode = readText(new URL('./square-vector.wgsl', import.meta.url));
const wordCode = readText(new URL('./square-word.wgsl', import.meta.url));

/**
 * Shapes of workgroups. Measured on an H200 for `vector`, 4928 x 2772: 0.0173 ms for 32 x 4 and every shape of fewer
 * lanes, 0.0180 for 32 x 8.
 */
const shapes = ['32x4', '32x8', '16x16', '64x4', '4x32'];
/**
 * With fewer lanes, histograms are added up more often: 0.0172 ms for 32 x 4, 0.0165 for 32 x 8, for `both`, 4096 x
 * 2160.
 */
const countingVectorShapes = ['32x8', '32x4', '16x16', '64x4', '4x32'];
/** Square shapes, to measure the cost of a workgroup's histogram. */
const countingShapes = ['16x16', '8x8', '4x4'];

const mapStrategies = [...inShapes('vector', shapes), ...inShapes('word', shapes), ...inShapes('workgroup', shapes)];
const countingStrategies = [
  ...inShapes('vector', countingVectorShapes),
  ...inShapes('vector-global', ['32x8']),
  ...inShapes('word', countingShapes),
  ...inShapes('word-global', countingShapes),
  ...inShapes('workgroup', countingShapes),
];

/**
 * A workgroup of 32 x 64 pixels: in cells of 16 x 16 most lanes of the default would be idle. Measured on an H200 for
 * 4096 x 4096 pixels: cells of 16 x 16 take 0.48 ms against 0.96, cells of 64 x 64 0.045 against 0.161.
 */
const smallCells = inShapes('vector', ['2x16'])[0]!;

/** Codes of the 3x3 square. */
export const squareOnGpu: GpuHost<LbpRing> = {
  variant: () => 'square',
  strategies: (_, output) => (output === 'map' ? mapStrategies : countingStrategies),
  smallCells: () => smallCells,
  compile: compileSquare,
};

function compileSquare(
  device: GPUDevice,
  { settings, border }: Operation<LbpRing>,
  output: GpuOutput,
  { name, lanes }: Strategy,
): Promise<GpuKernel> {
  const isVector = name.startsWith('vector');
  // The pixels of a lane.
  const [width, height] = isVector ? [16, 4] : [4, 1];
  return compileKernel(device, {
    label: `lbp.${name}.${output}`,
    code: isVector ? vectorCode : wordCode,
    entryPoint: 'lbp',
    output,
    border,
    constants: {
      LANES_X: lanes.width,
      LANES_Y: lanes.height,
      MSB: Number(settings.square!.isMsb),
      ...(!isVector && { TILED: Number(name === 'workgroup') }),
      ...(output !== 'map' && {
        PRIVATE_BINS: name.endsWith('-global') ? 0 : 256,
        COPIES: isVector && lanes.width * lanes.height > 64 ? 4 : 1,
      }),
    },
    groupPixels: { width: width * lanes.width, height: height * lanes.height },
  });
}
