import fc from 'fast-check';
import type { MadeUpJpeg } from './write-jpeg.ts';

const samplings: MadeUpJpeg['samplings'][] = [
  [[1, 1]],
  [[2, 3]],
  ...(
    [
      [1, 1],
      [2, 1],
      [1, 2],
      [2, 2],
      [4, 1],
      [3, 1],
      [1, 4],
      [4, 2],
    ] as const
  ).map((luma) => [luma, [1, 1], [1, 1]] as const),
  [
    [2, 2],
    [2, 1],
    [1, 2],
  ],
];

/** JPEGs of any shape, sampling and tables, with blocks from nearly empty to full. */
export const madeUpJpegs: fc.Arbitrary<MadeUpJpeg> = fc.record({
  width: fc.integer({ min: 1, max: 150 }),
  height: fc.integer({ min: 1, max: 100 }),
  samplings: fc.constantFrom(...samplings),
  restartMcus: fc.constantFrom(0, 0, 1, 2, 7, 30),
  density: fc.constantFrom(0, 1, 5, 20, 60, 100),
  bits: fc.integer({ min: 1, max: 8 }),
  quantiser: fc.constantFrom(1, 2, 10, 60, 255),
  sharesTables: fc.boolean(),
  seed: fc.integer({ min: 1, max: 2 ** 30 }),
});
