import { firstOtherMinor, type NvidiaGpu, nvidiaMajor } from './nvidia-gpu.ts';

/** A device file by its numbers, which no name or mount can change. */
export interface DeviceNumbers {
  major: number;
  minor: number;
}

/** A card that the driver knows, and the device that this process finds at the path of its device file. */
export interface FoundGpu {
  gpu: NvidiaGpu;
  /** Undefined: the file does not exist. */
  device: DeviceNumbers | undefined;
  /** Whether this process can open it: a device cgroup may refuse that, although the file is there. */
  opens: boolean;
}

/** The cards of the machine, ordered by PCI address as nvidia-smi numbers those that it sees. */
export interface GpuInventory {
  /** Cards that this process can open. */
  visible: NvidiaGpu[];
  /** Cards whose device file is hidden by a container or an isolation, or cannot be opened. */
  hidden: NvidiaGpu[];
}

export interface ChosenGpu {
  /** Its place among the visible cards. */
  index: number;
  gpu: NvidiaGpu;
}

export function takeInventory(found: readonly FoundGpu[]): GpuInventory {
  const inventory: GpuInventory = { visible: [], hidden: [] };
  for (const { gpu, device, opens } of found.toSorted((a, b) => (a.gpu.busId < b.gpu.busId ? -1 : 1))) {
    // /dev/null may be mounted over the path, so the numbers decide.
    const isThere = device?.major === nvidiaMajor && device.minor === gpu.minor && opens;
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
