import { availableParallelism } from 'node:os';
import { CpuDevice } from './cpu-device.ts';
import type { Device } from './device.ts';

/**
 * The reference as a device, to check what other devices found: slow, and with nothing in common with them. Its threads start
 * with the first check, and leave half of the cores to decoding.
 */
export function openTwinDevice(): Device {
  const threads = Math.ceil(availableParallelism() / 2);
  return new CpuDevice({ threads, program: new URL('./twin-worker.ts', import.meta.url) });
}
