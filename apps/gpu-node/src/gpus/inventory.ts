import { firstOtherMinor, type NvidiaGpu, nvidiaMajor } from './nvidia-gpu.ts';

/** A device file by its numbers, which no name or mount can change. */
export interface DeviceNumbers {
  major: number;
  minor: number;
}

/** A card that the driver knows of, and what this process finds at the path of its device file. */
export interface FoundGpu {
  gpu: NvidiaGpu;
  /** Undefined: there is no such file. */
  device: DeviceNumbers | undefined;
}

/** The cards of the machine by PCI address, which is the order in which nvidia-smi numbers those it sees. */
export interface GpuInventory {
  /** Those that this process can open. */
  visible: NvidiaGpu[];
  /** Those whose device file a container or an isolation keeps from it. */
  hidden: NvidiaGpu[];
}

export function takeInventory(found: readonly FoundGpu[]): GpuInventory {
  const inventory: GpuInventory = { visible: [], hidden: [] };
  for (const { gpu, device } of found.toSorted((a, b) => (a.gpu.busId < b.gpu.busId ? -1 : 1))) {
    // /dev/null may be mounted over it: what counts is which device it is.
    const isThere = device?.major === nvidiaMajor && device.minor === gpu.minor;
    inventory[isThere ? 'visible' : 'hidden'].push(gpu);
  }
  return inventory;
}

/** Minor numbers of the cards among devices, ascending. */
export function gpuMinors(devices: readonly DeviceNumbers[]): number[] {
  const minors = devices.flatMap(({ major, minor }) =>
    major === nvidiaMajor && minor < firstOtherMinor ? [minor] : [],
  );
  return [...new Set(minors)].sort((a, b) => a - b);
}
