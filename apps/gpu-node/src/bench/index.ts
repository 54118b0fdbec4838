export { type KernelTime, type KernelTimesOptions, measureKernelTimes } from './kernel-times.ts';
