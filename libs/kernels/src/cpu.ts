// What the cpu device runs; apart from index.ts so that the coordinator never loads it.

import { arithmeticOf } from './conv/arithmetic.ts';
import { convWasm } from './conv/conv-wasm.ts';
import { convReference } from './conv/reference.ts';
import { lbpCpu } from './lbp/lbp-cpu.ts';
import { ldpWasm } from './ldp/ldp-wasm.ts';
import { ldpReference } from './ldp/reference.ts';
import type { Pipeline } from './pipeline.ts';
import type { PipelineItem } from './pipeline-item.ts';
import type { ItemResult } from './plane-item.ts';
import { type RunKernel, runPipeline } from './run-pipeline.ts';

/** Squares of 16-bit sums are beyond float32, in which WebAssembly has them: where results are exact, the twin is asked. */
const convCpu: RunKernel = (operation, ...rest) => {
  const { reads, parameters } = operation;
  const isExact = parameters.as !== 'f32' && arithmeticOf(parameters, reads).kind === 'magnitude';
  return (reads === 'u16' && isExact ? convReference : convWasm)(operation, ...rest);
};

/** WebAssembly for pixels of 8 bits, the twin for those of 16. */
const ldpCpu: RunKernel = (operation, ...rest) =>
  (operation.reads === 'u16' ? ldpReference : ldpWasm)(operation, ...rest);

const programs: Record<string, RunKernel> = { lbp: lbpCpu, ldp: ldpCpu, conv: convCpu };

/** Computes one item on this thread, as fast as it can; the result is that of runReference. */
export function runCpu(pipeline: Pipeline, bytes: Uint8Array, item: PipelineItem, withMap: boolean): ItemResult {
  return runPipeline(programs, pipeline, bytes, item, withMap);
}
