import { sampleBytes } from '@halogrid/geometry';
import { createPipeline, type KernelName, kernelNames } from '@halogrid/kernels';
import type { CudaCall, CudaQuery } from '../cuda/cuda-programs.ts';
import type { KernelCase } from '../timing/kernel-case.ts';
import { randomMatrix } from '../timing/random.ts';

/** A kernel of `bench kernels`. */
export interface SuiteCase extends KernelCase {
  /** Multiplications with additions that a result's sample needs at least; 0 where memory is what limits. */
  multiplyAdds: number;
  /** Which rows of the CUDA programs compute the same. */
  cuda?: CudaQuery;
}

const lbp = (parameters: Record<string, string> = {}) => [{ kernel: 'lbp', parameters }];
const conv = (parameters: Record<string, string>) => [{ kernel: 'conv', parameters }];
const lbpMap = { report: 'R1', name: ['global', 'read-only', 'shared'] };
const lbpHistogram = { report: 'R2', name: ['global-atomics', 'private-histogram'] };
const cudaConv = (kernel: string) => ({ report: 'R5', name: ['global', 'shared'], kernel });
const matrix = (side: number): SuiteCase => ({
  name: `conv, any matrix of ${side}x${side}`,
  operations: conv({ matrix: randomMatrix(side) }),
  output: 'map',
  multiplyAdds: side ** 2,
  // The programs compute all products of a Gaussian, too.
  cuda: cudaConv(`gaussian-${side}`),
});
const separable = (kernel: string, side: number): SuiteCase => ({
  name: `conv ${kernel}`,
  operations: conv({ kernel }),
  output: 'map',
  multiplyAdds: 2 * side,
  cuda: cudaConv(kernel),
});

/** What counting results costs, over a scene, where most are near 0: the same kernel with and without. */
const counted = (kernel: string, as: string, multiplyAdds: number): SuiteCase[] =>
  (['map', 'both', 'histogram'] as const).map((output) => ({
    name: `conv ${kernel} as ${as}, scene, ${output}`,
    operations: conv({ kernel, as }),
    output,
    input: 'photo',
    multiplyAdds,
  }));

/** Kernels of which more than the map of their defaults is measured. */
const byKernel: Partial<Record<KernelName, readonly SuiteCase[]>> = {
  lbp: [
    { name: 'LBP map', operations: lbp(), output: 'map', multiplyAdds: 0, cuda: lbpMap },
    // What goes from one dispatch to the next is paid once for all of its images.
    { name: 'LBP map, 8 images a dispatch', operations: lbp(), output: 'map', multiplyAdds: 0, batch: 8, cuda: lbpMap },
    { name: 'LBP histogram, random', operations: lbp(), output: 'histogram', multiplyAdds: 0, cuda: lbpHistogram },
    { name: 'LBP histogram, scene', operations: lbp(), output: 'histogram', input: 'photo', multiplyAdds: 0 },
    { name: 'LBP histogram, black', operations: lbp(), output: 'histogram', input: 'flat', multiplyAdds: 0 },
    { name: 'LBP map and histogram', operations: lbp(), output: 'both', multiplyAdds: 0 },
    {
      name: 'LBP P=16 R=2 uniform histogram',
      operations: lbp({ points: '16', radius: '2', labels: 'uniform' }),
      output: 'histogram',
      multiplyAdds: 0,
    },
  ],
  ldp: [
    {
      name: 'LDP order 3 map and histogram',
      operations: [{ kernel: 'ldp', parameters: { order: '3' } }],
      output: 'both',
      multiplyAdds: 0,
      cuda: { report: 'R4', name: ['shared', 'global'] },
    },
  ],
  conv: [
    ...[3, 7, 15, 21].map(matrix),
    separable('gaussian-21', 21),
    separable('box-21', 21),
    {
      name: 'conv gaussian-5 as u8',
      operations: conv({ kernel: 'gaussian-5', as: 'u8' }),
      output: 'map',
      multiplyAdds: 10,
    },
    ...counted('sobel-x', 'f32', 9),
    ...counted('sobel-x', 'i16', 9),
    ...counted('gaussian-21', 'f32', 42),
  ],
};

const mapOf = (kernel: KernelName): SuiteCase => {
  return { name: `${kernel} map`, operations: [{ kernel, parameters: {} }], output: 'map', multiplyAdds: 0 };
};

export const kernelSuite: readonly SuiteCase[] = kernelNames.flatMap((name) => byKernel[name] ?? mapOf(name));

/** The CUDA programs that time the same on one image. */
export function cudaCalls(size: string, repetitions: number): CudaCall[] {
  const common = { sizes: size, measure: 'kernel', repetitions };
  const kernels = ['gaussian-3', 'gaussian-7', 'gaussian-15', 'gaussian-21', 'box-21'].join();
  return [
    { program: 'limits', arguments: { sizes: size, repetitions } },
    { program: 'lbp-map', arguments: common },
    { program: 'lbp-histogram', arguments: { ...common, blocks: '16,32' } },
    { program: 'ldp', arguments: { ...common, order: 3, strategies: 'shared,global', histograms: 'total' } },
    { program: 'convolution', arguments: { ...common, channels: 1, kernels, blocks: '16x16,32x16' } },
  ];
}

/** Bytes a pixel that a case reads and writes at least. */
export function bytesAPixel({ operations, output }: SuiteCase): number {
  const { input, output: result } = createPipeline(operations);
  const written = output === 'histogram' ? 0 : sampleBytes[result.sample] * result.channels.length;
  return input.length + written;
}
