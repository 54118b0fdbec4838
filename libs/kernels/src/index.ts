export { catalogue, type KernelName, kernelNames } from './catalogue.ts';
export type { Binning } from './kernel/binning.ts';
export { type BorderMode, borderModes, parseBorderMode } from './kernel/border.ts';
export { didYouMean, nearestWord } from './kernel/did-you-mean.ts';
export type { KernelDefinition, Kernels, Meaning, Parameters, ResultWords, Tolerance } from './kernel/kernel.ts';
export type { AskedOperation, Operation, RunKernel } from './kernel/operation.ts';
export type { Pairs } from './kernel/pairs.ts';
export { ParameterError } from './kernel/parameter-error.ts';
export { type DenseResult, type ItemResult, lanePixels } from './kernel/plane-item.ts';
export { shortened } from './kernel/shortened.ts';
export { type KernelForm, kernelForms, type ParameterForm } from './kernel-forms.ts';
export { itemsOfBands, joinBands, ofOneBand, overBands, planesRead } from './pipeline/bands.ts';
export { countTiles, cutTiles, defaultTilePx } from './pipeline/cut-tiles.ts';
export { excludedPixels, type UncountedPixels } from './pipeline/excluded-pixels.ts';
export { type Cell, cellStart, cellsOf, checkGrid, type Grid, maxImageBins } from './pipeline/grid.ts';
export type { CopyRect } from './pipeline/halo.ts';
export {
  createPipeline,
  describePipeline,
  hasExactHistogram,
  type Pipeline,
  parseOperation,
  pipelineOver,
  specifiedOperations,
} from './pipeline/pipeline.ts';
export { type PipelineItem, type PipelinePlan, placeItem, planPipeline } from './pipeline/pipeline-item.ts';
export {
  excludeShared,
  placeSharedItem,
  planPipelines,
  type SharedItem,
  type SharedPlan,
  type UncountedInPlanes,
} from './pipeline/shared-plan.ts';
export { runReference } from './reference.ts';
export type { Programs } from './registry.ts';
