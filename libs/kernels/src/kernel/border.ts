import { ParameterError } from './parameter-error.ts';

/**
 * The rule for pixels outside the image, shown for a row `a b c d`:
 *
 * - `zero`       `0 0 0|a b c d|0 0 0`
 * - `replicate`  `a a a|a b c d|d d d`
 * - `reflect`    `c b a|a b c d|d c b`  the edge repeated (SciPy `reflect`, NumPy `symmetric`, OpenCV `REFLECT`)
 * - `mirror`     `d c b|a b c d|c b a`  the edge not repeated (SciPy `mirror`, NumPy `reflect`, OpenCV `REFLECT_101`)
 * - `wrap`       `b c d|a b c d|a b c`
 * - `interior`   no rule: pixels whose support leaves the image have code 0 and are not counted
 */
export const borderModes = ['zero', 'replicate', 'reflect', 'mirror', 'wrap', 'interior'] as const;
export type BorderMode = (typeof borderModes)[number];

/** Names in other libraries for the same rule, unless the name has two meanings. */
const aliases: ReadonlyMap<string, BorderMode> = new Map([
  ['constant', 'zero'],
  ['nearest', 'replicate'],
  ['edge', 'replicate'],
  ['symmetric', 'reflect'],
  ['reflect101', 'mirror'],
  ['reflect_101', 'mirror'],
  ['valid', 'interior'],
]);

/** The canonical mode of a name or alias. Throws ParameterError for other names. */
export function parseBorderMode(name: string): BorderMode {
  const mode = borderModes.find((m) => m === name) ?? aliases.get(name);
  if (!mode) throw new ParameterError('border', name, borderModes);
  return mode;
}

/**
 * The index in [0, n) whose pixel stands for index `i` of a row of `n` pixels, or -1 if the pixel is 0. With
 * `interior`, no counted pixel reads outside; for the others, the nearest pixel is used.
 */
export function borderIndex(i: number, n: number, mode: BorderMode): number {
  if (i >= 0 && i < n) return i;
  switch (mode) {
    case 'zero':
      return -1;
    case 'replicate':
    case 'interior':
      return i < 0 ? 0 : n - 1;
    case 'wrap':
      return ((i % n) + n) % n;
    case 'reflect': {
      const period = 2 * n;
      const k = ((i % period) + period) % period;
      return k < n ? k : period - 1 - k;
    }
    case 'mirror': {
      if (n === 1) return 0;
      const period = 2 * n - 2;
      const k = ((i % period) + period) % period;
      return k < n ? k : period - k;
    }
  }
}
