import { convReference } from './conv/reference.ts';
import { glcmReference } from './glcm/reference.ts';
import type { ItemResult } from './kernel/plane-item.ts';
import { lbpReference } from './lbp/reference.ts';
import { ldpReference } from './ldp/reference.ts';
import type { Pipeline } from './pipeline/pipeline.ts';
import type { PipelineItem } from './pipeline/pipeline-item.ts';
import { runPipeline } from './pipeline/run-pipeline.ts';
import type { CataloguePrograms, Programs } from './registry.ts';

const references: CataloguePrograms = {
  lbp: lbpReference,
  ldp: ldpReference,
  conv: convReference,
  glcm: glcmReference,
};

/** Computes one item with the references: plain TypeScript definitions of what every device must return. */
export function runReference(
  pipeline: Pipeline,
  bytes: Uint8Array,
  item: PipelineItem,
  withMap: boolean,
  programs: Programs = references,
): ItemResult {
  return runPipeline(programs, pipeline, bytes, item, withMap);
}
