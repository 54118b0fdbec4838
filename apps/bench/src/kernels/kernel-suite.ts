import { type KernelName, kernelNames } from '@halogrid/kernels';
import type { KernelCase } from '../timing/kernel-case.ts';
import { randomMatrix } from '../timing/random.ts';

const lbp = (parameters: Record<string, string> = {}) => [{ kernel: 'lbp', parameters }];
const conv = (parameters: Record<string, string>) => [{ kernel: 'conv', parameters }];

/** One kernel with a map, with both, and with a histogram of a scene, where most results are near 0. */
const counted = (kernel: string, as: string): KernelCase[] =>
  (['map', 'both', 'histogram'] as const).map((output) => ({
    name: `conv ${kernel} as ${as}, scene, ${output}`,
    operations: conv({ kernel, as }),
    output,
    input: 'photo',
  }));

/** Cases of kernels that are not measured by the map of their defaults alone. */
const byKernel: Partial<Record<KernelName, readonly KernelCase[]>> = {
  lbp: [
    { name: 'LBP map', operations: lbp(), output: 'map' },
    // Eight images share the cost of going from one dispatch to the next.
    { name: 'LBP map, 8 images a dispatch', operations: lbp(), output: 'map', batch: 8 },
    { name: 'LBP histogram, random', operations: lbp(), output: 'histogram' },
    { name: 'LBP histogram, scene', operations: lbp(), output: 'histogram', input: 'photo' },
    { name: 'LBP histogram, black', operations: lbp(), output: 'histogram', input: 'flat' },
    { name: 'LBP map and histogram', operations: lbp(), output: 'both' },
    {
      name: 'LBP P=16 R=2 uniform histogram',
      operations: lbp({ points: '16', radius: '2', labels: 'uniform' }),
      output: 'histogram',
    },
  ],
  ldp: [
    {
      name: 'LDP order 3 map and histogram',
      operations: [{ kernel: 'ldp', parameters: { order: '3' } }],
      output: 'both',
    },
  ],
  conv: [
    ...[3, 7, 15, 21].map((side): KernelCase => {
      const name = `conv, any matrix of ${side}x${side}`;
      return { name, operations: conv({ matrix: randomMatrix(side) }), output: 'map' };
    }),
    { name: 'conv gaussian-21', operations: conv({ kernel: 'gaussian-21' }), output: 'map' },
    { name: 'conv box-21', operations: conv({ kernel: 'box-21' }), output: 'map' },
    { name: 'conv gaussian-5 as u8', operations: conv({ kernel: 'gaussian-5', as: 'u8' }), output: 'map' },
    ...counted('sobel-x', 'f32'),
    ...counted('sobel-x', 'i16'),
    ...counted('gaussian-21', 'f32'),
  ],
  glcm: (['random', 'photo'] as const).flatMap((input) =>
    (['histogram', 'both'] as const).map(
      (output): KernelCase => ({
        name: `GLCM 32 levels, 4 offsets, ${input === 'photo' ? 'scene' : 'random'}, ${output}`,
        operations: [{ kernel: 'glcm', parameters: {} }],
        output,
        input,
      }),
    ),
  ),
};

const mapOf = (kernel: KernelName): KernelCase => {
  return { name: `${kernel} map`, operations: [{ kernel, parameters: {} }], output: 'map' };
};

/** What `bench kernels` times, in the order of its table. Every kernel of the catalogue has a case. */
export const kernelSuite: readonly KernelCase[] = kernelNames.flatMap((name) => byKernel[name] ?? mapOf(name));
