import { gray } from '@halogrid/geometry';
import { copyBorderedRows, createPixels, storedPixels } from '../kernel/bordered-rows.ts';
import type { KernelDefinition } from '../kernel/kernel.ts';
import type { RunKernel } from '../kernel/operation.ts';
import { ParameterError } from '../kernel/parameter-error.ts';

/** What the parameters mean. */
export interface RankSettings {
  readonly radius: number;
}

/** Ranks of a pixel among the (2 radius + 1)^2 of its square. */
export const ranksOf = ({ radius }: RankSettings): number => (2 * radius + 1) ** 2;

/** Rank transform (Zabih, Woodfill 1994): how many pixels of the square around a pixel are less than it. */
export const rank: KernelDefinition<RankSettings> = {
  summary: 'Rank transform: how many pixels of the square around a pixel are less than it',

  complete({ radius = '1', ...others }) {
    const [unknown] = Object.keys(others);
    if (unknown !== undefined) throw new ParameterError('a parameter of rank', unknown, `'radius'`);
    if (!/^[1-7]$/.test(radius)) throw new ParameterError('rank:radius', radius, 'an integer from 1 to 7');
    return { radius };
  },
  parse: ({ radius }) => ({ radius: Number(radius) }),

  halo: ({ radius }) => radius,
  defaultBorder: () => 'interior',
  input: () => gray,
  output: () => ({ sample: 'u8', channels: gray }),
  meaning: () => 'values',
  describe: () => ({ channels: ['ranks of gray'], bin: 'pixels that i pixels of their square are less than' }),
  bins: ranksOf,
  minSide: () => 1,
  convention: () => 'rank',
};

/** The definition, pixel by pixel: what every device must return. */
export const rankReference: RunKernel<RankSettings> = ({ settings, border, reads = 'u8' }, bytes, item, withMap) => {
  const { radius } = settings;
  const { out, valid } = item;
  const stride = valid.width + 2 * radius;
  const around = { x: valid.x - radius, y: valid.y - radius, width: stride, height: valid.height + 2 * radius };
  const { pixels, plane } = storedPixels(bytes, item, reads);
  const source = createPixels(reads, stride * around.height);
  copyBorderedRows(pixels, plane, border, around, source, 0, stride);

  const bins = new Uint32Array(ranksOf(settings));
  const map = new Uint8Array(out.width * out.height);
  for (let y = 0; y < valid.height; y++) {
    for (let x = 0; x < valid.width; x++) {
      const centre = source[(y + radius) * stride + x + radius]!;
      let less = 0;
      for (let row = y; row <= y + 2 * radius; row++) {
        for (let column = x; column <= x + 2 * radius; column++)
          less += Number(source[row * stride + column]! < centre);
      }
      bins[less]!++;
      map[(valid.y - out.y + y) * out.width + valid.x - out.x + x] = less;
    }
  }
  const dense = { bytes: map, stride: out.width, bandBytes: map.length };
  return { counted: valid.width * valid.height, bins, map: withMap ? dense : undefined };
};
