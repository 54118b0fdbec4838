// What needs a GPU device; apart from index.ts so that the coordinator never loads it.
import type { GpuOutput, GpuProgram } from './gpu-program.ts';
import { createLbpProgram } from './lbp/lbp-gpu.ts';
import type { Pipeline } from './pipeline.ts';

export * from './gpu-program.ts';

/** Compiles a pipeline for one device. */
export function createGpuProgram(device: GPUDevice, pipeline: Pipeline, output: GpuOutput): Promise<GpuProgram> {
  const { kernel } = pipeline.operations[0]!;
  switch (kernel) {
    case 'lbp':
      return createLbpProgram(device, pipeline, output);
    default:
      throw new Error(`No GPU program of kernel '${kernel}'`);
  }
}
