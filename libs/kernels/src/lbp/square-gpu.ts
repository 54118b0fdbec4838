import { compileKernel, type GpuKernel, type GpuOutput, readWgsl } from '../gpu-kernel.ts';
import type { Operation } from '../pipeline.ts';
import { type GpuHost, inShapes, type Strategy } from '../strategy.ts';
import { ringOf } from './parameters.ts';

const vectorCode = readWgsl(import.meta.url, './lbp.wgsl');
const wordCode = readWgsl(import.meta.url, './square.wgsl');

/** Measured on an H200 for `vector`: 32 x 8, 64 x 4 and 16 x 16 are equal within 2 %, 128 x 2 is slower. */
const shapes = ['32x8', '32x4', '16x16', '64x4', '4x32'];
/** Squares, as a workgroup's histogram is what they are about. */
const countingShapes = ['16x16', '8x8', '4x4'];

const mapStrategies = [...inShapes('vector', shapes), ...inShapes('word', shapes), ...inShapes('workgroup', shapes)];
const countingStrategies = [
  ...inShapes('vector', shapes),
  ...inShapes('vector-global', ['32x8']),
  ...inShapes('word', countingShapes),
  ...inShapes('word-global', countingShapes),
  ...inShapes('workgroup', countingShapes),
];

/** Codes of the 3x3 square. */
export const squareOnGpu: GpuHost = {
  variant: () => 'square',
  strategies: (_, output) => (output === 'map' ? mapStrategies : countingStrategies),
  compile: (device, operation, output, strategy) => {
    return strategy.name.startsWith('vector')
      ? compileVectors(device, operation, output, strategy)
      : compileWords(device, operation, output, strategy);
  },
};

/** Lanes of 16 x 4 pixels. */
function compileVectors(
  device: GPUDevice,
  { parameters, border }: Operation,
  output: GpuOutput,
  { name, lanes }: Strategy,
): Promise<GpuKernel> {
  return compileKernel(device, {
    label: `lbp.${name}.${output}`,
    code: vectorCode,
    entryPoint: output === 'map' ? 'map_only' : 'count',
    border,
    constants: {
      LANES_X: lanes.width,
      LANES_Y: lanes.height,
      MSB: Number(ringOf(parameters).square!.isMsb),
      ...(output !== 'map' && { WRITE_MAP: Number(output === 'both'), PRIVATE: Number(!isGlobal(name)) }),
    },
    groupPixels: { width: 16 * lanes.width, height: 4 * lanes.height },
  });
}

/** Lanes of four pixels. */
function compileWords(
  device: GPUDevice,
  { parameters, border }: Operation,
  output: GpuOutput,
  { name, lanes }: Strategy,
): Promise<GpuKernel> {
  return compileKernel(device, {
    label: `lbp.${name}.${output}`,
    code: wordCode,
    entryPoint: 'lbp',
    border,
    constants: {
      LANES_X: lanes.width,
      LANES_Y: lanes.height,
      MSB: Number(ringOf(parameters).square!.isMsb),
      TILED: Number(name === 'workgroup'),
      WRITE_MAP: Number(output !== 'histogram'),
      COUNT: Number(output !== 'map'),
      PRIVATE: Number(output !== 'map' && !isGlobal(name)),
    },
    groupPixels: { width: 4 * lanes.width, height: lanes.height },
  });
}

/** Whether codes are counted in the item's histogram at once, not in one of the workgroup. */
const isGlobal = (name: string): boolean => name.endsWith('-global');
