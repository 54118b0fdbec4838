// What the cpu device runs; apart from index.ts so that the coordinator never loads it.

import { convWasm } from './conv/conv-wasm.ts';
import { convReference } from './conv/reference.ts';
import { lbpCpu } from './lbp/lbp-cpu.ts';
import { ldpWasm } from './ldp/ldp-wasm.ts';
import { ldpReference } from './ldp/reference.ts';
import type { Pipeline } from './pipeline.ts';
import type { PipelineItem } from './pipeline-item.ts';
import type { ItemResult } from './plane-item.ts';
import { type RunKernel, runPipeline } from './run-pipeline.ts';

/** WebAssembly for pixels of 8 bits, the twin for those of 16. */
const byPixel =
  (wasm: RunKernel, twin: RunKernel): RunKernel =>
  (operation, ...rest) =>
    (operation.reads === 'u16' ? twin : wasm)(operation, ...rest);

const programs: Record<string, RunKernel> = {
  lbp: lbpCpu,
  ldp: byPixel(ldpWasm, ldpReference),
  conv: byPixel(convWasm, convReference),
};

/** Computes one item on this thread, as fast as it can; the result is that of runReference. */
export function runCpu(pipeline: Pipeline, bytes: Uint8Array, item: PipelineItem, withMap: boolean): ItemResult {
  return runPipeline(programs, pipeline, bytes, item, withMap);
}
