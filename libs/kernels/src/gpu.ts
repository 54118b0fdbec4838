// Kernels for GPU devices; apart from index.ts so that the coordinator never loads them.

import { convOnGpu } from './conv/conv-gpu.ts';
import { glcmOnGpu } from './glcm/glcm-gpu.ts';
import type { GpuOutput } from './kernel/gpu/gpu-kernel.ts';
import type { ChooseStrategy, Strategy } from './kernel/gpu/strategy.ts';
import type { Operation } from './kernel/operation.ts';
import { lbpOnGpu } from './lbp/lbp-gpu.ts';
import { ldpOnGpu } from './ldp/ldp-gpu.ts';
import type { GpuProgramOptions } from './pipeline/gpu-layout.ts';
import { GpuProgram } from './pipeline/gpu-program.ts';
import type { Pipeline } from './pipeline/pipeline.ts';
import { type CatalogueHosts, type GpuHosts, lineOf } from './registry.ts';

export type { GpuOutput } from './kernel/gpu/gpu-kernel.ts';
export { type ChooseStrategy, type GpuHost, inShapes, type Strategy } from './kernel/gpu/strategy.ts';
export { type CellSize, cellSizeOf, type GpuBatchLayout, type GpuProgramOptions } from './pipeline/gpu-layout.ts';
export type { GpuProgram } from './pipeline/gpu-program.ts';
export type { GpuHosts } from './registry.ts';

const catalogueHosts: CatalogueHosts = { lbp: lbpOnGpu, ldp: ldpOnGpu, conv: convOnGpu, glcm: glcmOnGpu };

/** The ways to run a kernel for an output, the default first. */
export function strategiesOf(
  operation: Operation,
  output: GpuOutput,
  hosts: GpuHosts = catalogueHosts,
): readonly Strategy[] {
  const { line: host, operation: its } = lineOf(hosts, operation);
  return host.strategies(its, output);
}

/**
 * Identifies everything that a choice of strategy depends on, e.g. `lbp/square/map`: equal keys have the same
 * strategies.
 */
export function strategyKey(operation: Operation, output: GpuOutput): string {
  const { line: host, operation: its } = lineOf<GpuHosts[string]>(catalogueHosts, operation);
  return `${operation.kernel}/${host.variant(its)}/${output}`;
}

/**
 * Compiles a pipeline for one device, each kernel with the strategy that `choose` returns. Rejects with
 * GPUPipelineError if the device refuses a shader. Default of `hosts`: the catalogue's.
 */
export function createGpuProgram(
  device: GPUDevice,
  pipeline: Pipeline,
  options: GpuProgramOptions,
  choose: ChooseStrategy = () => undefined,
  hosts: GpuHosts = catalogueHosts,
): Promise<GpuProgram> {
  return GpuProgram.compile(device, pipeline, options, (on, operation, output, ofSmallCells) => {
    const { line: host, operation: its } = lineOf(hosts, operation);
    const byDefault = (ofSmallCells && host.smallCells?.(its)) || host.strategies(its, output)[0]!;
    return host.compile(on, its, output, choose(operation, output, ofSmallCells) ?? byDefault);
  });
}
