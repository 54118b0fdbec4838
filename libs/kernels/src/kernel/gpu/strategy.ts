import type { Size } from '@halogrid/geometry';
import type { Operation } from '../operation.ts';
import type { GpuKernel, GpuOutput } from './gpu-kernel.ts';

/** One way to run a kernel on a GPU. Its name and lanes together tell it from the kernel's others. */
export interface Strategy {
  /** The path that pixels and counts take, e.g. `vector`: see docs/tuning.md. */
  readonly name: string;
  /** Lanes of a workgroup. Those that results are made with have at most 256 in all, so that every device has them. */
  readonly lanes: Size;
  /** Whether its results equal the default's bit for bit. Others are there to be measured, never to give results. */
  readonly isExact: boolean;
}

/** A kernel as GPUs run it. */
export interface GpuHost<Settings> {
  /** What a choice of strategy depends on besides the kernel and the output; not the border. */
  variant(operation: Operation<Settings>): string;
  /** The default first. */
  strategies(operation: Operation<Settings>, output: GpuOutput): readonly Strategy[];
  /**
   * How histograms of cells of at most `smallCellSide` pixels a side are made, where the default would leave most lanes
   * idle.
   */
  smallCells?(operation: Operation<Settings>): Strategy;
  /** Rejects with GPUPipelineError where the device refuses the shader. */
  compile(device: GPUDevice, operation: Operation<Settings>, output: GpuOutput, strategy: Strategy): Promise<GpuKernel>;
}

/** Sides of the cells that GPUs count by a kernel's strategy for small ones, in pixels. */
export const smallCellSide = 64;

/** Chooses a strategy of a kernel, for small cells or for anything else; the default where there is none. */
export type ChooseStrategy = (operation: Operation, output: GpuOutput, ofSmallCells: boolean) => Strategy | undefined;

/** A path in several shapes of a workgroup, written `32x8`. */
export function inShapes(name: string, shapes: readonly string[], isExact = true): Strategy[] {
  return shapes.map((shape) => {
    const [width, height] = shape.split('x').map(Number);
    return { name, lanes: { width: width!, height: height! }, isExact };
  });
}
