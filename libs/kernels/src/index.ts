export type { Rect, Size } from '@halogrid/geometry';
export { type ImageType, type PixelType, type SampleType, sampleBytes } from '@halogrid/geometry';
export { type BorderMode, borderModes, parseBorderMode } from './border.ts';
export { catalogue, type KernelName, kernelNames } from './catalogue.ts';
export { type Cell, cellStart, cellsOf, checkGrid, type Grid, maxImageBins } from './grid.ts';
export type { CopyRect } from './halo.ts';
export type { KernelDefinition, Kernels, Meaning, Parameters, Tolerance } from './kernel.ts';
export { ParameterError } from './parameter-error.ts';
export {
  type AskedOperation,
  createPipeline,
  describePipeline,
  type Operation,
  type Pipeline,
  parseOperation,
  pipelineOver,
  specifiedOperations,
} from './pipeline.ts';
export { type PipelineItem, type PipelinePlan, placeItem, planPipeline } from './pipeline-item.ts';
export type { DenseResult, ItemResult } from './plane-item.ts';
export { runReference } from './reference.ts';
export type { Programs, RunKernel } from './run-pipeline.ts';
export type { Sampling } from './sampling.ts';
export { shortened } from './shortened.ts';
