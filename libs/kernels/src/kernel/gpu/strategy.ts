import type { Size } from '@halogrid/geometry';
import type { Operation } from '../operation.ts';
import type { GpuKernel, GpuOutput } from './gpu-kernel.ts';

/** One way to run a kernel on a GPU. Name and lanes together identify it among the kernel's strategies. */
export interface Strategy {
  /** The path that pixels and counts take, e.g. `vector`: see docs/tuning.md. */
  readonly name: string;
  /** Lanes of a workgroup. Strategies for results have at most 256 in all, so that every device has them. */
  readonly lanes: Size;
  /** Whether its results equal the default's bit for bit. Others are only measured, and never produce results. */
  readonly isExact: boolean;
}

/** How GPUs run a kernel. */
export interface GpuHost<Settings> {
  /** Everything besides kernel and output that a choice of strategy depends on; not the border. */
  variant(operation: Operation<Settings>): string;
  /** The strategies, the default first. */
  strategies(operation: Operation<Settings>, output: GpuOutput): readonly Strategy[];
  /**
   * The strategy for histograms of cells of at most `smallCellSide` pixels a side, if the default would leave most
   * lanes idle.
   */
  smallCells?(operation: Operation<Settings>): Strategy;
  /** Rejects with GPUPipelineError if the device refuses the shader. */
  compile(device: GPUDevice, operation: Operation<Settings>, output: GpuOutput, strategy: Strategy): Promise<GpuKernel>;
}

/** The largest side of a cell, in pixels, that is counted with a kernel's strategy for small cells. */
export const smallCellSide = 64;

/** Chooses a strategy of a kernel, for small cells or in general; undefined: the default. */
export type ChooseStrategy = (operation: Operation, output: GpuOutput, ofSmallCells: boolean) => Strategy | undefined;

/** One path in several shapes of workgroups, written `32x8`. */
export function inShapes(name: string, shapes: readonly string[], isExact = true): Strategy[] {
  return shapes.map((shape) => {
    const [width, height] = shape.split('x').map(Number);
    return { name, lanes: { width: width!, height: height! }, isExact };
  });
}
