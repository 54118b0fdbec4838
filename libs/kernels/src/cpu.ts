// The kernels of the cpu device; apart from index.ts so that the coordinator never loads them.

import type { ConvSettings } from './conv/conv.ts';
import { convWasm } from './conv/conv-wasm.ts';
import { convReference } from './conv/reference.ts';
import { glcmWasm } from './glcm/glcm-wasm.ts';
import type { RunKernel } from './kernel/operation.ts';
import type { ItemResult } from './kernel/plane-item.ts';
import type { LbpRing } from './lbp/parameters.ts';
import { lbpReference } from './lbp/reference.ts';
import { ringWasm } from './lbp/ring-wasm.ts';
import { squareWasm } from './lbp/square-wasm.ts';
import type { LdpSettings } from './ldp/ldp.ts';
import { ldpWasm } from './ldp/ldp-wasm.ts';
import { ldpWide } from './ldp/ldp-wide.ts';
import type { Pipeline } from './pipeline/pipeline.ts';
import type { PipelineItem } from './pipeline/pipeline-item.ts';
import { runPipeline } from './pipeline/run-pipeline.ts';
import type { CataloguePrograms, Programs } from './registry.ts';

/** WebAssembly for codes and labels, the reference for variances. */
const lbpCpu: RunKernel<LbpRing> = (operation, ...rest) => {
  const { square, labels } = operation.settings;
  return (labels === 'var' ? lbpReference : square ? squareWasm : ringWasm)(operation, ...rest);
};

/**
 * The squares of 16-bit sums do not fit float32, in which WebAssembly computes them: if results must be exact, the
 * reference computes them.
 */
const convCpu: RunKernel<ConvSettings> = (operation, ...rest) => {
  const { reads, settings } = operation;
  const isExact = settings.as !== 'f32' && settings.arithmetic.u16.kind === 'magnitude';
  return (reads === 'u16' && isExact ? convReference : convWasm)(operation, ...rest);
};

/** A separate program for 16-bit pixels. */
const ldpCpu: RunKernel<LdpSettings> = (operation, ...rest) =>
  (operation.reads === 'u16' ? ldpWide : ldpWasm)(operation, ...rest);

const cataloguePrograms: CataloguePrograms = { lbp: lbpCpu, ldp: ldpCpu, conv: convCpu, glcm: glcmWasm };

/** Computes one item on this thread, as fast as possible. The result equals that of runReference. */
export function runCpu(
  pipeline: Pipeline,
  bytes: Uint8Array,
  item: PipelineItem,
  withMap: boolean,
  programs: Programs = cataloguePrograms,
): ItemResult {
  return runPipeline(programs, pipeline, bytes, item, withMap);
}
