import { compileKernel } from '../kernel/gpu/gpu-kernel.ts';
import { type GpuHost, inShapes } from '../kernel/gpu/strategy.ts';
import { readText } from '../kernel/read-beside.ts';
import { type RankSettings, ranksOf } from './rank.ts';

const code = readText(new URL('./rank.wgsl', import.meta.url));
const strategies = inShapes('global', ['8x8']);

/** The rank transform on GPUs. */
export const rankOnGpu: GpuHost<RankSettings> = {
  variant: ({ settings, reads }) => `radius-${settings.radius}${reads === 'u16' ? '-of-u16' : ''}`,
  strategies: () => strategies,
  compile: (device, { settings, border, reads }, output) =>
    compileKernel(device, {
      label: `rank.${output}`,
      code,
      entryPoint: 'rank',
      output,
      border,
      reads,
      constants: { RADIUS: settings.radius, ...(output !== 'map' && { BINS: ranksOf(settings) }) },
      groupPixels: { width: 32, height: 8 },
    }),
};
