import { chooseGpus, findGpus, type GpuChoice, type GpuPin, parseGpuChoice, pinGpus } from '@halogrid/gpu-node/gpus';
import { named, sentence } from '@halogrid/proto/sentence';
import { UsageError } from '@halogrid/service';
import type { DeviceChoice } from './option-values.ts';

/** Parses the value of --gpu for commander. Throws UsageError. */
export function gpuChoice(text: string): GpuChoice {
  const choice = parseGpuChoice(text);
  if (choice !== undefined) return choice;
  throw new UsageError(sentence`Expected 'all' or the index of a GPU for ${named('--gpu')} but received '${text}'`);
}

/**
 * How to start a node on each GPU that --gpu asks for, at least one. Rejects with UsageError if that is not possible.
 */
export async function pinChosenGpus(choice: GpuChoice, device: DeviceChoice = 'auto'): Promise<GpuPin[]> {
  if (device !== 'auto' && device !== 'gpu') {
    throw new UsageError(sentence`Expected ${named('--device')} gpu with ${named('--gpu')} but received '${device}'`);
  }
  try {
    const inventory = await findGpus();
    const chosen = chooseGpus(choice, inventory);
    return await pinGpus(chosen, inventory!);
  } catch (error) {
    throw new UsageError(sentence`${(error as Error).message} (${named('--gpu')})`);
  }
}
