export { type ChosenGpu, chooseGpus, firstGpus, type GpuChoice, parseGpuChoice } from './choose-gpus.ts';
export type { GpuInventory } from './inventory.ts';
export { findGpus, heldGpuMinors } from './machine-gpus.ts';
export { devicePath, type NvidiaGpu } from './nvidia-gpu.ts';
export { type GpuPin, pinGpus } from './pin-gpus.ts';
export { requirePlacement } from './require-placement.ts';
export { threadsEach } from './threads-each.ts';
