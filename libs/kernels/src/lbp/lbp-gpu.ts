import type { GpuHost } from '../kernel/gpu/strategy.ts';
import type { Operation } from '../kernel/operation.ts';
import type { LbpRing } from './parameters.ts';
import { ringOnGpu } from './ring-gpu.ts';
import { squareOnGpu } from './square-gpu.ts';

/** LBP on GPUs. Codes of the 3x3 square of 8-bit pixels, which need no interpolation, have their own programs. */
export const lbpOnGpu: GpuHost<LbpRing> = {
  variant: (operation) => hostOf(operation).variant(operation),
  strategies: (operation, output) => hostOf(operation).strategies(operation, output),
  smallCells: (operation) => {
    const host = hostOf(operation);
    return host.smallCells?.(operation) ?? host.strategies(operation, 'histogram')[0]!;
  },
  compile: (device, operation, output, strategy) => hostOf(operation).compile(device, operation, output, strategy),
};

function hostOf({ settings: { square, labels }, reads }: Operation<LbpRing>): GpuHost<LbpRing> {
  return square && labels === 'all' && reads !== 'u16' ? squareOnGpu : ringOnGpu;
}
