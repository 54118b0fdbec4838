import { chooseGpus, findGpus, type GpuChoice, type GpuPin, pinGpus } from '@halogrid/gpu-node/gpus';
import { UsageError } from '@halogrid/service';
import type { DeviceChoice } from '../options/option-values.ts';

/** How to start a node on each GPU that --gpu asks for, one at least. Rejects with UsageError where that cannot be. */
export async function pinChosenGpus(choice: GpuChoice, device: DeviceChoice = 'auto'): Promise<GpuPin[]> {
  if (device !== 'auto' && device !== 'gpu') {
    throw new UsageError(`Expected --device gpu with --gpu but received '${device}'`);
  }
  try {
    const inventory = await findGpus();
    const chosen = chooseGpus(choice, inventory);
    return await pinGpus(chosen, inventory!);
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}
