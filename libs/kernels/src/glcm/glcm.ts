import { gray } from '@halogrid/geometry';
import type { KernelDefinition } from '../kernel/kernel.ts';
import { completeGlcm, type GlcmSettings, settingsOf } from './parameters.ts';

/**
 * Gray-Level Co-occurrence Matrix (Haralick, Shanmugam, Dinstein 1973): how often a pixel of one level has a pixel of
 * another level at an offset. The level of a pixel is value * levels >> bits. The code of a pixel in the channel of an
 * offset is level * levels + the other pixel's level, so a channel's histogram is the matrix, row by row. Everything is
 * an integer, so codes and counts are exact on every device.
 */
export const glcm: KernelDefinition<GlcmSettings> = {
  summary: 'Gray-Level Co-occurrence Matrix of 2 to 64 levels, at up to 16 offsets (Haralick)',

  complete: completeGlcm,
  parse: settingsOf,
  halo: ({ steps }) => Math.max(...steps.map(({ x, y }) => Math.max(Math.abs(x), Math.abs(y)))),
  defaultBorder: () => 'interior',
  input: () => gray,
  output: ({ levels, offsets }) => ({ sample: levels ** 2 <= 256 ? 'u8' : 'u16', channels: offsets }),
  meaning: () => 'labels',
  describe: ({ levels, steps, isSymmetric }) => ({
    channels: steps.map(({ x, y }) => `pairs of the pixels at (x, y) and (x${signed(x)}, y${signed(y)})`),
    bin:
      `pairs of level floor(i / ${levels}) and level i mod ${levels}${isSymmetric ? ', in both orders' : ''}; ` +
      `the level of a pixel is value * ${levels} >> bits`,
  }),
  bins: ({ levels }) => levels ** 2,
  pairs: ({ levels, steps, isSymmetric }) => ({ levels, steps, isSymmetric }),
  minSide: () => 1,
  convention: () => 'scikit-image',
};

const signed = (step: number): string => (step === 0 ? '' : step < 0 ? ` - ${-step}` : ` + ${step}`);
