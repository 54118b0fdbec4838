export { type BorderMode, borderModes } from './border.ts';
export { catalogue } from './catalogue.ts';
export type { Rect, Size } from './geometry.ts';
export { type CopyRect, planRead, type ReadPlan } from './halo.ts';
export type { KernelDefinition, Parameters } from './kernel.ts';
export { ParameterError } from './parameter-error.ts';
export { createPipeline, describePipeline, type Operation, type Pipeline, parseOperation } from './pipeline.ts';
export { type ItemResult, type PlaneItem, placeItem } from './plane-item.ts';
export { runReference } from './reference.ts';
