export { forgetTuning, readTuning, type TunedChoice, writeTuning } from '../devices/tuning-file.ts';
export { type BenchImages, type BenchInput, type KernelCase, stageCase } from './kernel-case.ts';
export { type KernelTime, type KernelTimesOptions, measureKernelTimes } from './kernel-times.ts';
export { randomBytes } from './random-bytes.ts';
export { type TimingOptions, timeStrategies, warmUps } from './time-strategies.ts';
export { describeDevice, withTimedDevice } from './timed-device.ts';
export { measureWholeTimes, type WholeTimesOptions } from './whole-times.ts';
