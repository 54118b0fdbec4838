import { UsageError } from '@halogrid/service';
import { CpuDevice } from './cpu-device.ts';
import { type DeviceKind, deviceKinds, type NodeDevice } from './device.ts';

/** What may be asked for: the best device there is, or one kind. */
export const deviceChoices = ['auto', ...deviceKinds] as const;
export type DeviceChoice = (typeof deviceChoices)[number];

export interface OpenedDevice {
  device: NodeDevice;
  /** Why it is this one, in one sentence. */
  reason: string;
}

/** Takes a line for the log. */
type Note = (line: string) => void;
type Openers = Record<DeviceKind, (note: Note) => Promise<NodeDevice>>;

/** WebGPU is loaded only by a process that tries it. */
const openers: Openers = {
  gpu: async (note) => (await import('./webgpu-device.ts')).openWebGpuDevice('gpu', { note }),
  software: async (note) => (await import('./webgpu-device.ts')).openWebGpuDevice('software', { note }),
  cpu: async () => new CpuDevice(),
};

/**
 * Opens the device that is asked for; rejects with UsageError where that one is not there. `auto` takes a GPU and else
 * `cpu`, never `software`: on one core WebAssembly computes 1,400 Mpx/s of 1080p LBP, and SwiftShader 14 on two
 * (measured).
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

/** The error of a device that was asked for and cannot be opened, in one sentence. */
export function unavailable(choice: DeviceChoice, error: unknown): UsageError {
  return new UsageError(`The device '${choice}' is not available: ${clause(error)}.`);
}

const clause = (error: unknown): string => (error as Error).message.replace(/\.$/, '');
