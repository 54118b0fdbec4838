import { UsageError } from '@halogrid/service';
import { CpuDevice } from './cpu-device.ts';
import { type DeviceKind, deviceKinds, type NodeDevice } from './device.ts';

/** The choices of a user: the best device there is, or one kind. */
export const deviceChoices = ['auto', ...deviceKinds] as const;
export type DeviceChoice = (typeof deviceChoices)[number];

export interface OpenedDevice {
  device: NodeDevice;
  /** Why this device was chosen, in one sentence. */
  reason: string;
}

/** Logs a line. */
type Note = (line: string) => void;
type Openers = Record<DeviceKind, (note: Note) => Promise<NodeDevice>>;

/** WebGPU is only loaded by a process that tries it. */
const openers: Openers = {
  gpu: async (note) => (await import('./webgpu-device.ts')).openWebGpuDevice('gpu', { note }),
  software: async (note) => (await import('./webgpu-device.ts')).openWebGpuDevice('software', { note }),
  cpu: async () => new CpuDevice(),
};

/**
 * Opens the chosen device; rejects with UsageError if that one is not available. `auto` takes a GPU or else `cpu`,
 * never `software`: WebAssembly computes 1,400 Mpx/s of 1080p LBP on one core, SwiftShader 14 on two (measured).
 */
export async function openDevice(
  choice: DeviceChoice,
  open: Openers = openers,
  note: Note = () => {},
): Promise<OpenedDevice> {
  if (choice !== 'auto') {
    try {
      return { device: await open[choice](note), reason: `The ${choice} device was asked for.` };
    } catch (error) {
      throw unavailable(choice, error);
    }
  }
  try {
    return { device: await open.gpu(note), reason: 'There is a GPU, which is the fastest device.' };
  } catch (error) {
    const reason = `There is no GPU (${clause(error)}), and the CPU is faster than a software device.`;
    return { device: await open.cpu(note), reason };
  }
}

/** The error for a chosen device that cannot be opened, in one sentence. */
export function unavailable(choice: DeviceChoice, error: unknown): UsageError {
  return new UsageError(`The device '${choice}' is not available: ${clause(error)}.`);
}

const clause = (error: unknown): string => (error as Error).message.replace(/\.$/, '');
