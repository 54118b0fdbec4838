// Runs pipelines on any WebGPU device, Dawn's or a browser's.
export { GpuPrograms } from './gpu-programs.ts';
export { GpuSlot, moreResolvedAt, roundUpCapacity, timestampCount } from './gpu-slot.ts';
export { adapterName, isSoftwareAdapter, largestBinding, requestDevice } from './request-device.ts';
export { type DeviceSeconds, runBatch, stampsOf } from './run-batch.ts';
