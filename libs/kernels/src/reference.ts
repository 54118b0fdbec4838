import { convReference } from './conv/reference.ts';
import { lbpReference } from './lbp/reference.ts';
import { ldpReference } from './ldp/reference.ts';
import type { Pipeline } from './pipeline.ts';
import type { PipelineItem } from './pipeline-item.ts';
import type { ItemResult } from './plane-item.ts';
import { type RunKernel, runPipeline } from './run-pipeline.ts';

const twins: Record<string, RunKernel> = { lbp: lbpReference, ldp: ldpReference, conv: convReference };

/** Computes one item with the CPU twins, which state what every device must return. */
export function runReference(pipeline: Pipeline, bytes: Uint8Array, item: PipelineItem, withMap: boolean): ItemResult {
  return runPipeline(twins, pipeline, bytes, item, withMap);
}
