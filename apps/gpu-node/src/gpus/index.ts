export { type AssignedGpus, assignedGpus, mentionsGpus } from './assigned-gpus.ts';
export { chooseGpus, firstGpus, type GpuChoice, parseGpuChoice } from './choose-gpus.ts';
export type { ChosenGpu, GpuInventory } from './inventory.ts';
export { findGpus, heldGpuMinors } from './machine-gpus.ts';
export { devicePath, type NvidiaGpu } from './nvidia-gpu.ts';
export { type GpuPin, pinGpus, threadsEach } from './pin-gpus.ts';
export { requirePlacement } from './prove-placement.ts';
