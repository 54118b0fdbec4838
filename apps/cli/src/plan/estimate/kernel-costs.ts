import type { KernelName, Operation } from '@halogrid/kernels';

const costDevices = ['gpu', 'software', 'cpu'] as const;

/** The kinds of devices with different costs. */
export type CostDevice = (typeof costDevices)[number];

export const isCostDevice = (kind: unknown): kind is CostDevice => costDevices.some((device) => device === kind);

/**
 * Nanoseconds per pixel and core on the cpu device, for pixels of 8 bits; and factors of that for 16 bits, and for
 * SwiftShader.
 */
interface CpuCost {
  nanoseconds: number;
  of16Bits: number;
  onSoftware: number;
}

/** A line for each kernel, which the compiler demands. Measured on a core of an AMD EPYC: lab/notes/estimates.md. */
const cpuCosts: Record<KernelName, (operation: Operation) => CpuCost> = {
  // The 3x3 square is fastest. Rings take longer by their number of points. The reference computes variances.
  lbp: ({ parameters, halo }) => {
    const points = Number(parameters.points);
    if (parameters.labels === 'var') return { nanoseconds: 19 * points, of16Bits: 1, onSoftware: 100 };
    const isSquare = halo === 1 && points === 8 && parameters.convention?.startsWith('nw-');
    return { nanoseconds: isSquare ? 1.2 : 1.1 * points, of16Bits: 1, onSoftware: 100 };
  },
  // Pixels of 16 bits are computed without WebAssembly.
  ldp: ({ halo }) => ({ nanoseconds: 3.5 + 0.3 * halo, of16Bits: 14, onSoftware: 100 }),
  // Rounded results are sums of integers over the whole matrix.
  conv: ({ parameters, halo, output }) => {
    const side = 2 * halo + 1;
    const isSeparable = /^(gaussian|box|sobel|prewitt)/.test(parameters.kernel ?? '');
    const rounded = 3 + 0.13 * side ** 2;
    const float = isSeparable ? 1.5 + 0.3 * side : 1 + 0.12 * side ** 2;
    return {
      nanoseconds: output.channels.length * (output.sample === 'f32' ? float : rounded),
      of16Bits: 1,
      onSoftware: 50,
    };
  },
  // Levels once, then a code and a count for each offset.
  glcm: ({ output }) => ({ nanoseconds: 0.5 + 0.8 * output.channels.length, of16Bits: 1.5, onSoftware: 100 }),
};

/**
 * Seconds of a core, or of the whole GPU, per pixel of the first kernel's input, by figures of docs/benchmarks.md. On a
 * GPU, most kernels take less time than the copy into its memory.
 */
export function kernelSecondsAPixel(operations: readonly Operation[], device: CostDevice, bits: 8 | 16): number {
  let nanoseconds = 0;
  for (const operation of operations) {
    const cost = cpuCosts[operation.kernel as KernelName](operation);
    // Kernels after the first one read 8 bits.
    const isDeep = bits === 16 && operation === operations[0] && device === 'cpu';
    const times = device === 'software' ? cost.onSoftware : isDeep ? cost.of16Bits : 1;
    nanoseconds += cost.nanoseconds * times;
  }
  return device !== 'gpu' ? 1e-9 * nanoseconds : (bits / 8) * 0.1e-9 + 1e-12 * nanoseconds;
}
