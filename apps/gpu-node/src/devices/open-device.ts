import { UsageError } from '@halogrid/service';
import { CpuDevice } from './cpu-device.ts';
import { type Device, type DeviceKind, deviceKinds } from './device.ts';

/** What may be asked for: the best device there is, or one kind. */
export const deviceChoices = ['auto', ...deviceKinds] as const;
export type DeviceChoice = (typeof deviceChoices)[number];

export interface OpenedDevice {
  device: Device;
  /** Why it is this one, in one sentence. */
  reason: string;
}

type Openers = Record<DeviceKind, () => Promise<Device>>;

/** WebGPU is loaded only by a process that tries it. */
const openers: Openers = {
  gpu: async () => (await import('./webgpu-device.ts')).openWebGpuDevice('gpu'),
  software: async () => (await import('./webgpu-device.ts')).openWebGpuDevice('software'),
  cpu: async () => new CpuDevice(),
};

/**
 * Opens the device that is asked for; rejects with UsageError where that one is not there. `auto` takes a GPU and else
 * `cpu`, never `software`: on one core WebAssembly computes 1,400 Mpx/s of 1080p LBP, and SwiftShader 14 on two (measured).
 */
export async function openDevice(choice: DeviceChoice, open: Openers = openers): Promise<OpenedDevice> {
  if (choice !== 'auto') {
    try {
      return { device: await open[choice](), reason: `The ${choice} device was asked for.` };
    } catch (error) {
      throw new UsageError(`The device '${choice}' is not available: ${sentence(error)}`);
    }
  }
  try {
    return { device: await open.gpu(), reason: 'There is a GPU, which is the fastest device.' };
  } catch (error) {
    const reason = `There is no GPU (${clause(error)}), and the CPU is faster than a software device.`;
    return { device: await open.cpu(), reason };
  }
}

const clause = (error: unknown): string => (error as Error).message.replace(/\.$/, '');
const sentence = (error: unknown): string => `${clause(error)}.`;
