// What needs a GPU device; apart from index.ts so that the coordinator never loads it.

import { convOnGpu } from './conv/conv-gpu.ts';
import type { GpuOutput } from './gpu-kernel.ts';
import { GpuProgram, type GpuProgramOptions } from './gpu-program.ts';
import { lbpOnGpu } from './lbp/lbp-gpu.ts';
import { ldpOnGpu } from './ldp/ldp-gpu.ts';
import type { Operation, Pipeline } from './pipeline.ts';
import type { ChooseStrategy, GpuHost, Strategy } from './strategy.ts';

export type { GpuOutput } from './gpu-kernel.ts';
export type { GpuBatchLayout, GpuProgram, GpuProgramOptions } from './gpu-program.ts';
export type { ChooseStrategy, Strategy } from './strategy.ts';

const hosts: Record<string, GpuHost> = { lbp: lbpOnGpu, ldp: ldpOnGpu, conv: convOnGpu };

/** The ways to run a kernel for an output, the default first. */
export function strategiesOf(operation: Operation, output: GpuOutput): readonly Strategy[] {
  return hosts[operation.kernel]!.strategies(operation, output);
}

/** What a choice of strategy depends on, e.g. `lbp/square/map`: equal keys have equal strategies. */
export function strategyKey(operation: Operation, output: GpuOutput): string {
  return `${operation.kernel}/${hosts[operation.kernel]!.variant(operation)}/${output}`;
}

/**
 * Compiles a pipeline for one device, its kernels with the strategies that `choose` gives. Rejects with GPUPipelineError
 * where the device refuses a shader.
 */
export function createGpuProgram(
  device: GPUDevice,
  pipeline: Pipeline,
  options: GpuProgramOptions,
  choose: ChooseStrategy = () => undefined,
): Promise<GpuProgram> {
  return GpuProgram.compile(device, pipeline, options, (on, operation, output) => {
    const strategy = choose(operation, output) ?? strategiesOf(operation, output)[0]!;
    return hosts[operation.kernel]!.compile(on, operation, output, strategy);
  });
}
