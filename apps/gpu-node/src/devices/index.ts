// The devices, for benchmarks and tuning as well as for the node.
export { type DeviceInfo, type DeviceKind, deviceKinds, type NodeDevice } from './device.ts';
export { forgetJpegRate } from './jpeg-rate-file.ts';
export { openDevice, unavailable } from './open-device.ts';
export { forgetTuning, readTuning, type TunedChoice, writeTuning } from './tuning-file.ts';
export { type OpenAdapter, openAdapter } from './webgpu-adapter.ts';
export { openWebGpuDevice } from './webgpu-device.ts';
